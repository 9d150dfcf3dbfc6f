package utils_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/compat/utils"
)

func hashes(t *testing.T, objs ...client.Object) []utils.HashHolder {
	t.Helper()
	var given []utils.ConfigMapHash
	for _, o := range objs {
		given = append(given, utils.ConfigMapHash{Object: o})
	}
	holders, err := utils.MakeConfigMapHash(given)
	require.NoError(t, err)
	return holders
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// The original hashed whole objects: the owner's UID, labels, and what the API server sets.
func TestOnlyContentCounts(t *testing.T) {
	plain := configMap("a", map[string]string{"k": "v"})
	stored := plain.DeepCopy()
	stored.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	stored.UID, stored.ResourceVersion, stored.Generation = "u", "7", 2
	stored.Labels, stored.Annotations = map[string]string{"l": "x"}, map[string]string{"a": "x"}
	stored.OwnerReferences = []metav1.OwnerReference{{UID: "owner"}}
	untyped := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"k": "v"},
	}}
	want := hashes(t, plain)
	require.Len(t, want[0].HashVaule, 64)
	require.Equal(t, want, hashes(t, stored))
	require.Equal(t, want, hashes(t, untyped))
	require.Equal(t, hashes(t, configMap("a", nil)), hashes(t, configMap("a", map[string]string{})))

	for name, other := range map[string]client.Object{
		"value":  configMap("a", map[string]string{"k": "w"}),
		"key":    configMap("a", map[string]string{"j": "v"}),
		"binary": &corev1.ConfigMap{ObjectMeta: plain.ObjectMeta, Data: plain.Data, BinaryData: map[string][]byte{"b": {1}}},
		"moved":  &corev1.ConfigMap{ObjectMeta: plain.ObjectMeta, BinaryData: map[string][]byte{"k": []byte("v")}},
	} {
		require.NotEqual(t, want, hashes(t, other), name)
	}
}

func TestSecrets(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "s"}
	data := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	stringData := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"a": []byte("1"), "b": []byte("old")}, StringData: map[string]string{"b": "2"}}
	require.Equal(t, hashes(t, data), hashes(t, stringData))
	require.Equal(t, []byte("old"), stringData.Data["b"])
	require.NotEqual(t, hashes(t, data), hashes(t, &corev1.Secret{ObjectMeta: meta}))
}

// One holder a name, since each becomes one environment variable; and none of what has the name is overlooked.
func TestObjectsOfOneName(t *testing.T) {
	a1, a2, b := configMap("a", map[string]string{"k": "1"}), configMap("a", map[string]string{"k": "2"}), configMap("b", nil)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string][]byte{"k": []byte("1")}}
	got := hashes(t, a1, b, a1, a1)
	require.Equal(t, []string{"a", "b"}, []string{got[0].Name, got[1].Name})
	require.Equal(t, hashes(t, a1)[0], got[0])
	both := hashes(t, a1, secret)
	require.Len(t, both, 1)
	require.NotEqual(t, both, hashes(t, a1))
	require.NotEqual(t, both, hashes(t, a2, secret))
	require.NotEqual(t, both, hashes(t, a1, &corev1.Secret{ObjectMeta: secret.ObjectMeta}))
	require.Empty(t, hashes(t))
}

func TestNilObjects(t *testing.T) {
	for _, nothing := range []client.Object{nil, (*corev1.ConfigMap)(nil)} {
		_, err := utils.MakeConfigMapHash([]utils.ConfigMapHash{{Object: configMap("a", nil)}, {Object: nothing}})
		require.ErrorContains(t, err, "ConfigMapHash[1].Object is nil")
		require.Error(t, utils.AddHashToObject(nothing, "hash"))
	}
}

// The original wrote into the map that it was given, so that the second object with it had another hash.
func TestAddHashToObject(t *testing.T) {
	shared := map[string]string{"note": "x"}
	deployment := func() *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Annotations: shared}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)}}
	}
	hash := func(change func(*appsv1.Deployment)) string {
		d := deployment()
		change(d)
		require.NoError(t, utils.AddHashToObject(d, "hash"))
		require.Equal(t, "x", d.Annotations["note"])
		return d.Annotations["hash"]
	}
	want := hash(func(*appsv1.Deployment) {})
	require.Equal(t, map[string]string{"note": "x"}, shared)
	for name, change := range map[string]func(*appsv1.Deployment){
		"again":  func(d *appsv1.Deployment) { require.NoError(t, utils.AddHashToObject(d, "hash")) },
		"owner":  func(d *appsv1.Deployment) { d.OwnerReferences = []metav1.OwnerReference{{UID: "owner"}} },
		"server": func(d *appsv1.Deployment) { d.UID, d.ResourceVersion, d.Generation = "u", "7", 2 },
		"status": func(d *appsv1.Deployment) { d.Status.Replicas = 1 },
	} {
		require.Equal(t, want, hash(change), name)
	}
	for name, change := range map[string]func(*appsv1.Deployment){
		"spec":       func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](2) },
		"label":      func(d *appsv1.Deployment) { d.Labels = map[string]string{"l": "x"} },
		"annotation": func(d *appsv1.Deployment) { d.Annotations = map[string]string{"note": "x", "other": "y"} },
		"name":       func(d *appsv1.Deployment) { d.Name = "e" },
	} {
		require.NotEqual(t, want, hash(change), name)
	}
}
