package builder_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What of these kinds can be changed is little, and none of it is a union. Those that the API server itself would obey are of
// no effect here: they select what doesn't exist.

func (v variants) job() *batchv1.Job {
	return &batchv1.Job{Spec: batchv1.JobSpec{
		Template: onceOnly(idlePod()), ManualSelector: new(true), Selector: webLabels(), Suspend: new(true), Completions: ptr.To[int32](3),
		Parallelism: oneOf(v, nil, ptr.To[int32](2)), BackoffLimit: oneOf(v, nil, ptr.To[int32](1)),
		TTLSecondsAfterFinished: oneOf(v, nil, ptr.To[int32](100)), ActiveDeadlineSeconds: oneOf(v, nil, ptr.To[int64](100)),
	}}
}

func (v variants) onePod() *corev1.Pod {
	pod := idlePod()
	pod.Spec.NodeSelector = map[string]string{"none": "such"}
	pod.Spec.AutomountServiceAccountToken = new(false)
	pod.Spec.Containers[0].Image = oneOf(v, "i:1", "i:2")
	return &corev1.Pod{Spec: pod.Spec}
}

func (v variants) subjects() []rbacv1.Subject {
	return oneOf(v, nil,
		[]rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "none-such"}},
		[]rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "none-such", Name: "a"}, {Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "none-such"}})
}

func (v variants) rules() []rbacv1.PolicyRule {
	return oneOf(v, nil, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{oneOf(v, "pods", "secrets")}, Verbs: []string{"get"}}})
}

func (v variants) endpointSlice() *discoveryv1.EndpointSlice {
	e := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	if v.maybe() {
		e.Ports = []discoveryv1.EndpointPort{{Name: oneOf(v, nil, new("p")), Port: new(oneOf[int32](v, 80, 81)), Protocol: oneOf(v, nil, ptr.To(corev1.ProtocolUDP))}}
	}
	if v.maybe() {
		e.Endpoints = []discoveryv1.Endpoint{{
			Addresses: []string{oneOf(v, "10.1.2.3", "10.1.2.4")}, Hostname: oneOf(v, nil, new("h")),
			Conditions: discoveryv1.EndpointConditions{Ready: oneOf(v, nil, new(false))},
		}}
	}
	return e
}

func (v variants) endpoints() *corev1.Endpoints { //nolint:staticcheck // deprecated, and a kind of the scheme
	if v.maybe() {
		return &corev1.Endpoints{} //nolint:staticcheck // as above
	}
	return &corev1.Endpoints{Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // as above
		Addresses: []corev1.EndpointAddress{{IP: oneOf(v, "10.1.2.3", "10.1.2.4")}},
		Ports:     []corev1.EndpointPort{{Port: oneOf[int32](v, 80, 81), Protocol: oneOf(v, "", corev1.ProtocolUDP)}},
	}}}
}

func (v variants) lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
		HolderIdentity: oneOf(v, nil, new("a"), new("b")), LeaseDurationSeconds: oneOf(v, nil, ptr.To[int32](15)),
	}}
}

func (v variants) claimTemplate() *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "none-such"}}}},
	}}}
}

func (v variants) persistentVolume() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}},
		AccessModes:            []corev1.PersistentVolumeAccessMode{oneOf(v, corev1.ReadWriteOnce, corev1.ReadOnlyMany)}, StorageClassName: "none-such",
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(oneOf(v, "1Gi", "2Gi"))},
		PersistentVolumeReclaimPolicy: oneOf(v, "", corev1.PersistentVolumeReclaimRetain),
		MountOptions:                  oneOf(v, nil, []string{"ro"}),
	}}
}

func (v variants) clientConfig() admissionv1.WebhookClientConfig {
	return oneOf(v,
		admissionv1.WebhookClientConfig{URL: new("https://none.example/x")},
		admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "none-such", Name: "s", Path: oneOf(v, nil, new("/x")), Port: oneOf(v, nil, ptr.To[int32](8443))}})
}

var noNamespace = &metav1.LabelSelector{MatchLabels: map[string]string{"none": "such"}}

func (v variants) operations() []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{oneOf(v, admissionv1.Create, admissionv1.Update)},
		Rule:       admissionv1.Rule{APIGroups: []string{"none.example"}, APIVersions: []string{"v1"}, Resources: []string{"nones"}, Scope: oneOf(v, nil, ptr.To(admissionv1.NamespacedScope))},
	}}
}

func (v variants) mutatingWebhook() *admissionv1.MutatingWebhookConfiguration {
	w := &admissionv1.MutatingWebhookConfiguration{}
	for _, name := range []string{"a.none.example", "b.none.example"} {
		if v.maybe() {
			w.Webhooks = append(w.Webhooks, admissionv1.MutatingWebhook{
				Name: name, ClientConfig: v.clientConfig(), Rules: v.operations(), NamespaceSelector: noNamespace, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"}, FailurePolicy: oneOf(v, nil, ptr.To(admissionv1.Ignore)), TimeoutSeconds: oneOf(v, nil, ptr.To[int32](3)),
				ReinvocationPolicy: oneOf(v, nil, ptr.To(admissionv1.IfNeededReinvocationPolicy)),
			})
		}
	}
	return w
}

func (v variants) validatingWebhook() *admissionv1.ValidatingWebhookConfiguration {
	w := &admissionv1.ValidatingWebhookConfiguration{}
	for _, name := range []string{"a.none.example", "b.none.example"} {
		if v.maybe() {
			w.Webhooks = append(w.Webhooks, admissionv1.ValidatingWebhook{
				Name: name, ClientConfig: v.clientConfig(), Rules: v.operations(), NamespaceSelector: noNamespace, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"}, MatchPolicy: oneOf(v, nil, ptr.To(admissionv1.Exact)),
			})
		}
	}
	return w
}

func (v variants) matched() *admissionv1.MatchResources {
	rule := v.operations()[0]
	return &admissionv1.MatchResources{NamespaceSelector: noNamespace, MatchPolicy: oneOf(v, nil, ptr.To(admissionv1.Exact)), ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}}}
}

func (v variants) validatingPolicy() *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: v.matched(), FailurePolicy: oneOf(v, nil, ptr.To(admissionv1.Ignore)),
		Validations: []admissionv1.Validation{{Expression: oneOf(v, "true", "false"), Message: oneOf(v, "", "no")}},
	}}
}

func (v variants) policyBinding() *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: oneOf(v, "none-such", "none-such-either"), MatchResources: oneOf(v, nil, v.matched()),
		ValidationActions: []admissionv1.ValidationAction{oneOf(v, admissionv1.Warn, admissionv1.Deny)},
	}}
}

func (v variants) mutatingPolicy() *admissionv1.MutatingAdmissionPolicy {
	return &admissionv1.MutatingAdmissionPolicy{Spec: admissionv1.MutatingAdmissionPolicySpec{
		MatchConstraints: v.matched(), FailurePolicy: oneOf(v, nil, ptr.To(admissionv1.Ignore)), ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{oneOf(v,
			admissionv1.Mutation{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "Object{}"}},
			admissionv1.Mutation{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{Expression: `[JSONPatch{op: "test", path: "/a", value: "b"}]`}})},
	}}
}

func (v variants) mutatingBinding() *admissionv1.MutatingAdmissionPolicyBinding {
	return &admissionv1.MutatingAdmissionPolicyBinding{Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{
		PolicyName: oneOf(v, "none-such", "none-such-either"), MatchResources: oneOf(v, nil, v.matched()),
	}}
}

func (v variants) deviceTaint() *resourcev1.DeviceTaintRule {
	return &resourcev1.DeviceTaintRule{Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: new("none.example"), Pool: oneOf(v, nil, new("p"))},
		Taint:          resourcev1.DeviceTaint{Key: oneOf(v, "a", "b"), Value: oneOf(v, "", "v"), Effect: resourcev1.DeviceTaintEffectNoSchedule},
	}}
}

// certificates are two, in PEM.
var certificates = func() (two [2]string) {
	for i := range two {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		utilruntime.Must(err)
		like := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), IsCA: true, BasicConstraintsValid: true}
		der, err := x509.CreateCertificate(rand.Reader, like, like, private.Public(), private)
		utilruntime.Must(err)
		two[i] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return two
}()

func (v variants) flowSchema() *flowcontrolv1.FlowSchema {
	subject := oneOf(v,
		flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: "none-such"}},
		flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: "none-such"}},
		flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "none-such", Name: "a"}})
	rule := flowcontrolv1.PolicyRulesWithSubjects{Subjects: []flowcontrolv1.Subject{subject}}
	if v.maybe() {
		rule.NonResourceRules = []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{oneOf(v, "/none", "/such")}}}
	} else {
		rule.ResourceRules = []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"none.example"}, Resources: []string{"nones"}, ClusterScope: true, Namespaces: oneOf(v, nil, []string{"n"})}}
	}
	return &flowcontrolv1.FlowSchema{Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "catch-all"}, MatchingPrecedence: oneOf[int32](v, 0, 9000),
		DistinguisherMethod: oneOf(v, nil, &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType}),
		Rules:               []flowcontrolv1.PolicyRulesWithSubjects{rule},
	}}
}

func (v variants) priorityLevel() *flowcontrolv1.PriorityLevelConfiguration {
	limited := func(response flowcontrolv1.LimitResponse) flowcontrolv1.PriorityLevelConfigurationSpec {
		return flowcontrolv1.PriorityLevelConfigurationSpec{
			Type:    flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LendablePercent: oneOf(v, nil, ptr.To[int32](50)), LimitResponse: response},
		}
	}
	return &flowcontrolv1.PriorityLevelConfiguration{Spec: oneOf(v,
		limited(flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}),
		limited(flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: &flowcontrolv1.QueuingConfiguration{Queues: oneOf[int32](v, 4, 8), HandSize: 2, QueueLengthLimit: oneOf[int32](v, 5, 6)}}))}
}

func (v variants) storageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{Provisioner: "none.example", AllowVolumeExpansion: oneOf(v, nil, new(true)), MountOptions: oneOf(v, nil, []string{"ro"})}
}

func (v variants) driver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{
		PodInfoOnMount: oneOf(v, nil, new(true)), StorageCapacity: oneOf(v, nil, new(true)), RequiresRepublish: oneOf(v, nil, new(true)),
		TokenRequests: oneOf(v, nil, []storagev1.TokenRequest{{Audience: oneOf(v, "a", "b"), ExpirationSeconds: oneOf(v, nil, ptr.To[int64](3600))}}),
	}}
}

// plain are the makers of the kinds whose changes are plain ones.
func (v variants) plain() map[string]func() client.Object {
	return map[string]func() client.Object{
		"Job": func() client.Object { return v.job() },
		"Pod": func() client.Object { return v.onePod() },
		"ReplicationController": func() client.Object {
			pod := v.pod()
			return &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](0), Selector: pod.Labels, Template: &pod}}
		},
		"PersistentVolumeClaim": func() client.Object { claim := claimOf("", "1Gi"); return &claim },
		"ControllerRevision": func() client.Object {
			return &appsv1.ControllerRevision{Revision: oneOf[int64](v, 0, 1, 2), Data: runtime.RawExtension{Raw: []byte(`{"a":1}`)}}
		},
		"RoleBinding": func() client.Object {
			return &rbacv1.RoleBinding{Subjects: v.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "r"}}
		},
		"ClusterRoleBinding": func() client.Object {
			return &rbacv1.ClusterRoleBinding{Subjects: v.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "none-such"}}
		},
		"ClusterRole": func() client.Object {
			if v.maybe() {
				return &rbacv1.ClusterRole{AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{*noNamespace}}}
			}
			return &rbacv1.ClusterRole{Rules: v.rules()}
		},
		"EndpointSlice":         func() client.Object { return v.endpointSlice() },
		"Endpoints":             func() client.Object { return v.endpoints() },
		"Lease":                 func() client.Object { return v.lease() },
		"ResourceClaimTemplate": func() client.Object { return v.claimTemplate() },
		"ResourceClaim":         func() client.Object { return &resourcev1.ResourceClaim{Spec: v.claimTemplate().Spec.Spec} },
		"DeviceClass": func() client.Object {
			return &resourcev1.DeviceClass{Spec: resourcev1.DeviceClassSpec{Selectors: oneOf(v, nil, []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: oneOf(v, "true", "false")}}})}}
		},
		"PersistentVolume":                 func() client.Object { return v.persistentVolume() },
		"MutatingWebhookConfiguration":     func() client.Object { return v.mutatingWebhook() },
		"ValidatingWebhookConfiguration":   func() client.Object { return v.validatingWebhook() },
		"ValidatingAdmissionPolicy":        func() client.Object { return v.validatingPolicy() },
		"ValidatingAdmissionPolicyBinding": func() client.Object { return v.policyBinding() },
		"MutatingAdmissionPolicy":          func() client.Object { return v.mutatingPolicy() },
		"MutatingAdmissionPolicyBinding":   func() client.Object { return v.mutatingBinding() },
		"DeviceTaintRule":                  func() client.Object { return v.deviceTaint() },
		"ClusterTrustBundle": func() client.Object {
			return &certificatesv1.ClusterTrustBundle{Spec: certificatesv1.ClusterTrustBundleSpec{TrustBundle: oneOf(v, certificates[0], certificates[1], certificates[0]+certificates[1])}}
		},
		"FlowSchema":                 func() client.Object { return v.flowSchema() },
		"PriorityLevelConfiguration": func() client.Object { return v.priorityLevel() },
		"StorageClass":               func() client.Object { return v.storageClass() },
		"CSIDriver":                  func() client.Object { return v.driver() },
		"CSIStorageCapacity": func() client.Object {
			return &storagev1.CSIStorageCapacity{StorageClassName: "none-such", Capacity: oneOf(v, nil, new(resource.MustParse("1Gi")))}
		},
		"PriorityClass": func() client.Object {
			return &schedulingv1.PriorityClass{Value: 1, Description: oneOf(v, "", "a", "b")}
		},
		"RuntimeClass": func() client.Object {
			return &nodev1.RuntimeClass{Handler: "none", Scheduling: oneOf(v, nil, &nodev1.Scheduling{NodeSelector: map[string]string{"none": "such"}})}
		},
		"IngressClass": func() client.Object {
			return &networkingv1.IngressClass{Spec: networkingv1.IngressClassSpec{Controller: "none.example/x", Parameters: oneOf(v, nil,
				&networkingv1.IngressClassParametersReference{Kind: "X", Name: "x", APIGroup: new("x.io")})}}
		},
		"VolumeAttributesClass": func() client.Object {
			return &storagev1.VolumeAttributesClass{DriverName: "none.example", Parameters: map[string]string{"a": "b"}}
		},
	}
}
