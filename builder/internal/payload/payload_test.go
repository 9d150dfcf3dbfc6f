package payload

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var anyKind = schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "K"}

// custom is a custom resource: nobody but its schema knows which of its fields must be there.
type custom struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              customSpec `json:"spec"`
	Status            struct{}   `json:"status"`
}

type customSpec struct {
	Required struct{}               `json:"required"`
	Number   int32                  `json:"number"`
	List     []string               `json:"list"`
	Template corev1.PodTemplateSpec `json:"template"`
}

func (c *custom) DeepCopyObject() runtime.Object { d := *c; return &d }

func TestOf(t *testing.T) {
	cases := map[string]struct {
		obj  client.Object
		want string
	}{
		"a Deployment claims nothing that it doesn't say": {
			&appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{}},
				Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "web"}},
				}}},
				Status: appsv1.DeploymentStatus{Replicas: 3},
			},
			`{"metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"web"}]}}}}`,
		},
		"what the server sets is left out": {
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Name: "c", Namespace: "n", UID: "u", ResourceVersion: "1", Generation: 2, CreationTimestamp: metav1.Now(),
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
			}, Data: map[string]string{"empty": ""}},
			`{"metadata":{"name":"c","namespace":"n"},"data":{"empty":""}}`,
		},
		"an empty struct behind a pointer is meant": {
			&corev1.Pod{Spec: corev1.PodSpec{
				Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			}},
			`{"metadata":{},"spec":{"volumes":[{"name":"tmp","emptyDir":{}}]}}`,
		},
		"so is an empty selector": {
			&networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
				Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}, {}},
			}},
			`{"metadata":{},"spec":{"podSelector":{},"ingress":[{"from":[{"podSelector":{}}]},{}]}}`,
		},
		"an unset target port is none, 0 behind a pointer is one": {
			&corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}, {Port: 81, TargetPort: intstr.FromInt32(8081)}}}},
			`{"metadata":{},"spec":{"ports":[{"port":80},{"port":81,"targetPort":8081}]}}`,
		},
		"what can't be told from nothing is not claimed": {
			&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "i"}}}},
			}}}},
			`{"metadata":{},"spec":{"template":{"spec":{"volumes":[{"name":"v","iscsi":{"iqn":"i"}}]}}}}`,
		},
		"a budget of 0": {
			&policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(0))}},
			`{"metadata":{},"spec":{"maxUnavailable":0}}`,
		},
		"quantities are written in one way": {
			&corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1000m")},
			}}},
			`{"metadata":{},"spec":{"resources":{"requests":{"storage":"1"}}}}`,
		},
		"a Secret's key without a value is a key": {
			&corev1.Secret{Data: map[string][]byte{"a": nil, "b": []byte("b")}},
			`{"metadata":{},"data":{"a":"","b":"Yg=="}}`,
		},
		"a custom resource keeps its own empty fields, not those of Kubernetes' types": {
			&custom{Spec: customSpec{List: []string{}}},
			`{"metadata":{},"spec":{"required":{},"number":0,"list":[],"template":{}}}`,
		},
		"unstructured is taken at its word": {
			&unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": "x", "creationTimestamp": nil, "uid": "u"},
				"spec":     map[string]any{"strategy": map[string]any{}, "replicas": int64(0), "nothing": nil},
				"status":   map[string]any{"a": "b"}, "kind": "K",
			}},
			`{"metadata":{"name":"x"},"spec":{"strategy":{},"replicas":0}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fields, err := Of(c.obj, anyKind)
			require.NoError(t, err)
			assert.Equal(t, "g/v1", fields["apiVersion"])
			assert.Equal(t, "K", fields["kind"])
			delete(fields, "apiVersion")
			delete(fields, "kind")
			got, err := json.Marshal(fields)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(got))
		})
	}
}

func TestDigest(t *testing.T) {
	of := func(o client.Object) string {
		fields, err := Of(o, anyKind)
		require.NoError(t, err)
		digest, err := Digest(fields)
		require.NoError(t, err)
		return digest
	}
	many := func(reverse bool) map[string]string {
		m := map[string]string{}
		for i := range 26 {
			if reverse {
				i = 25 - i
			}
			m[string(rune('a'+i))] = "v"
		}
		return m
	}
	first := &corev1.ConfigMap{Data: many(false)}
	assert.Equal(t, of(first), of(&corev1.ConfigMap{Data: many(true)}), "order of maps")
	assert.NotEqual(t, of(first), of(&corev1.ConfigMap{}))
	assert.Equal(t, of(&corev1.ConfigMap{}), of(&corev1.ConfigMap{Data: map[string]string{}, BinaryData: map[string][]byte{}}), "nil and empty")
	assert.Equal(t,
		of(&corev1.Pod{}), of(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{}}}), "nil and empty list")
	assert.Equal(t, of(first), of(first.DeepCopy()))
	assert.Len(t, of(first), 32)
}

func TestOfReportsWhatCannotBeMarshalled(t *testing.T) {
	_, err := Of(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}, "spec": func() {}}}, anyKind)
	require.ErrorContains(t, err, "marshal K x")
}
