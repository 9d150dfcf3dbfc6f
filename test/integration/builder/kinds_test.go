package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// kindCase is a kind's life: how it is wanted, how someone else edits a field of ours, and how it is seen to be back.
type kindCase struct {
	wanted client.Object
	drift  func(client.Object)
	kept   func(client.Object) bool
}

// edit makes a case from functions on the kind's own type.
func edited[T client.Object](wanted T, drift func(T), kept func(T) bool) kindCase {
	return kindCase{
		wanted: wanted,
		drift:  func(o client.Object) { drift(o.(T)) },
		kept:   func(o client.Object) bool { return kept(o.(T)) },
	}
}

var kindCases = map[string]kindCase{
	"ConfigMap": edited(&corev1.ConfigMap{Data: map[string]string{"a": "1", "empty": ""}},
		func(o *corev1.ConfigMap) { o.Data = map[string]string{"empty": "not", "theirs": "x"} },
		func(o *corev1.ConfigMap) bool {
			return o.Data["a"] == "1" && o.Data["empty"] == "" && o.Data["theirs"] == "x"
		}),
	"Secret": edited(&corev1.Secret{StringData: map[string]string{"a": "1"}, Data: map[string][]byte{"empty": nil}},
		func(o *corev1.Secret) { o.Data["a"], o.Data["empty"] = []byte("2"), []byte("3") },
		func(o *corev1.Secret) bool { return string(o.Data["a"]) == "1" && len(o.Data["empty"]) == 0 }),
	"Service": edited(&corev1.Service{Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"},
		Ports:    []corev1.ServicePort{{Name: "tcp", Port: 53}, {Name: "udp", Port: 53, Protocol: corev1.ProtocolUDP}},
	}},
		func(o *corev1.Service) { o.Spec.Selector["x"] = "y" },
		func(o *corev1.Service) bool { return len(o.Spec.Selector) == 1 && len(o.Spec.Ports) == 2 }),
	"ServiceAccount": edited(&corev1.ServiceAccount{AutomountServiceAccountToken: new(false)},
		func(o *corev1.ServiceAccount) { o.AutomountServiceAccountToken = new(true) },
		func(o *corev1.ServiceAccount) bool { return !*o.AutomountServiceAccountToken }),
	"PersistentVolumeClaim": edited(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1024Mi")}},
		},
	},
		func(o *corev1.PersistentVolumeClaim) { o.Labels["app"] = "other" },
		func(o *corev1.PersistentVolumeClaim) bool { return o.Labels["app"] == "web" }),
	"Deployment": edited(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: webLabels(), Template: webPod(), Replicas: ptr.To[int32](0)}},
		func(o *appsv1.Deployment) {
			o.Spec.Replicas = ptr.To[int32](1)
			o.Spec.Template.Spec.Tolerations = nil
			o.Spec.Template.Spec.Containers = append(o.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "x"})
		},
		func(o *appsv1.Deployment) bool {
			return *o.Spec.Replicas == 0 && len(o.Spec.Template.Spec.Tolerations) == 1 && len(o.Spec.Template.Spec.Containers) == 2
		}),
	"StatefulSet": edited(&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Selector: webLabels(), Template: webPod(), ServiceName: "web", Replicas: ptr.To[int32](0)}},
		func(o *appsv1.StatefulSet) { o.Spec.Replicas = ptr.To[int32](1) },
		func(o *appsv1.StatefulSet) bool { return *o.Spec.Replicas == 0 }),
	"DaemonSet": edited(&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: webLabels(), Template: webPod()}},
		func(o *appsv1.DaemonSet) { o.Spec.Template.Spec.Containers[0].Image = "other" },
		func(o *appsv1.DaemonSet) bool { return o.Spec.Template.Spec.Containers[0].Image == "nginx" }),
	"Job": edited(&batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(true), Template: onceOnly(webPod())}},
		func(o *batchv1.Job) { o.Labels[wellknown.LabelManagedBy] = "other" },
		func(o *batchv1.Job) bool { return o.Labels[wellknown.LabelManagedBy] == wellknown.ManagedBy }),
	"CronJob": edited(&batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{
		Spec: batchv1.JobSpec{Template: onceOnly(webPod())},
	}}},
		func(o *batchv1.CronJob) { o.Spec.Schedule = "1 0 1 1 *" },
		func(o *batchv1.CronJob) bool { return o.Spec.Schedule == "0 0 1 1 *" }),
	"PodDisruptionBudget": edited(&policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: new(intstr.FromInt32(0)), Selector: webLabels(),
	}},
		func(o *policyv1.PodDisruptionBudget) { o.Spec.MaxUnavailable = new(intstr.FromInt32(1)) },
		func(o *policyv1.PodDisruptionBudget) bool { return o.Spec.MaxUnavailable.IntVal == 0 }),
	"NetworkPolicy": edited(&networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}}}},
	}},
		func(o *networkingv1.NetworkPolicy) { o.Spec.PodSelector.MatchLabels = map[string]string{"a": "b"} },
		func(o *networkingv1.NetworkPolicy) bool { return len(o.Spec.PodSelector.MatchLabels) == 0 }),
	"Role, by Object": edited(&rbacv1.Role{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}},
		func(o *rbacv1.Role) { o.Rules[0].Verbs = []string{"*"} },
		func(o *rbacv1.Role) bool { return o.Rules[0].Verbs[0] == "get" }),
	"unstructured": edited(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"spec": map[string]any{
			"replicas": int64(0),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "nginx"}}},
			},
		},
	}},
		func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, int64(1), "spec", "replicas")
		},
		func(o *unstructured.Unstructured) bool {
			n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
			return n == 0
		}),
}

func webLabels() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func webPod() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}},
			Volumes:     []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Containers: []corev1.Container{{
				Name: "web", Image: "nginx",
				Env:           []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B"}},
				Ports:         []corev1.ContainerPort{{ContainerPort: 80}},
				Resources:     corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")}},
				LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}},
			}},
		},
	}
}

func onceOnly(pod corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	return pod
}

func TestLifeOfEachKind(t *testing.T) {
	w := newWorld(t)
	for name, c := range kindCases {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.t = t
			wanted := c.wanted.DeepCopyObject().(client.Object)
			wanted.SetName("child")
			wanted.SetAnnotations(map[string]string{"example.com/remove": "me"})

			res, sent, err := w.pass(wanted)
			require.NoError(t, err)
			require.Len(t, res.Changes, 1)
			assert.Equal(t, events.ReasonCreated, res.Changes[0].Reason)
			assert.Len(t, sent, 1, "%v", sent)
			assert.True(t, metav1.IsControlledBy(w.get(wanted), w.owner))

			w.assertUnchanged(wanted)
			w.settle(wanted) // controllers may write its status
			w.assertUnchanged(wanted)

			w.edit(wanted, c.drift)
			res, sent, err = w.pass(wanted)
			require.NoError(t, err)
			assert.Len(t, sent, 1, "drift is repaired with one write: %v", sent)
			assert.NotEmpty(t, res.Changes)
			assert.True(t, c.kept(w.get(wanted)), "%+v", w.get(wanted))
			w.assertUnchanged(wanted)

			wanted.SetAnnotations(map[string]string{"example.com/added": "1"})
			w.assertChanged(wanted, 2, "the first change also turns the record of the create into one of an apply")
			assert.Empty(t, w.get(wanted).GetAnnotations()["example.com/remove"], "what isn't wanted any more is removed")
			assert.True(t, c.kept(w.get(wanted)))
			w.assertUnchanged(wanted)

			wanted.SetAnnotations(nil)
			w.assertChanged(wanted, 1, "one write a change")
			assert.Empty(t, w.get(wanted).GetAnnotations()["example.com/added"])
			w.assertUnchanged(wanted)
		})
	}
}

func (w *world) assertUnchanged(wanted client.Object) {
	w.t.Helper()
	if _, untyped := wanted.(*unstructured.Unstructured); untyped {
		// Reads of untyped objects don't wait for our own writes, and each new version (a controller's status) may cost
		// one request that changes nothing.
		w.eventually(func() bool {
			w.settle(wanted)
			res, sent, err := w.pass(wanted)
			return err == nil && res.Unchanged == 1 && len(sent) == 0
		}, "nothing is written any more")
		return
	}
	res, sent, err := w.pass(wanted)
	require.NoError(w.t, err)
	assert.Equal(w.t, 1, res.Unchanged)
	assert.Empty(w.t, res.Changes)
	assert.Empty(w.t, sent)
}

func (w *world) assertChanged(wanted client.Object, requests int, why string) {
	w.t.Helper()
	w.eventually(func() bool { // a controller may write at the same time
		w.settle(wanted)
		res, sent, err := w.pass(wanted)
		if err != nil {
			return false
		}
		assert.LessOrEqual(w.t, len(sent), requests, "%s: %v", why, sent)
		return len(res.Changes) > 0
	}, "%s", why)
}
