package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/confighash"
)

func configMapOf(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "c"},
		Data:       map[string]string{"a": "1", "b": "2"}, BinaryData: map[string][]byte{"x": {1, 2}},
	}
	if change != nil {
		change(c)
	}
	return c
}

type settings struct {
	Name  string
	List  []string
	Extra map[string]int
	Time  string `hash:"ignore"`
}

func hashOf(t *testing.T, of ...any) string {
	digest, err := confighash.Of(Want(&corev1.ConfigMap{}, HashFrom(of...)).desired.Options.ConfigOf, engineWith(interceptor.Funcs{}).kinds.GVK)
	require.NoError(t, err)
	return digest
}

func TestWhatCountsInAConfigDigest(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string][]byte{"a": []byte("1")}, StringData: map[string]string{"b": "2"}}
	merged := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Ingress"}}}
	relabelled := policy.DeepCopy()
	relabelled.Labels, relabelled.ResourceVersion, relabelled.UID = map[string]string{"a": "b"}, "7", "u"
	base := configMapOf(nil)
	same := map[string][2][]any{
		"metadata": {{base}, {configMapOf(func(c *corev1.ConfigMap) {
			c.Labels, c.ResourceVersion, c.UID, c.Namespace = map[string]string{"x": "y"}, "7", "u", "elsewhere"
			c.OwnerReferences, c.Immutable = []metav1.OwnerReference{{UID: "o"}}, new(true)
		})}},
		"order":                  {{base, secret, "x"}, {"x", secret, base}},
		"twice":                  {{base, base}, {base}},
		"nil and empty":          {{config("e"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "f"}}}, {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "f"}, Data: map[string]string{}}, config("e")}},
		"nil and empty value":    {{&corev1.Secret{Data: map[string][]byte{"a": nil}}}, {&corev1.Secret{Data: map[string][]byte{"a": {}}}}},
		"stringData":             {{secret}, {merged}},
		"unstructured":           {{base}, {untyped(t, base, "v1", "ConfigMap")}},
		"unstructured secret":    {{secret}, {untyped(t, secret, "v1", "Secret")}},
		"value and pointer":      {{settings{Name: "a"}}, {&settings{Name: "a"}}},
		"ignored field":          {{settings{Name: "a"}}, {settings{Name: "a", Time: "now"}}},
		"metadata of any object": {{policy}, {relabelled}},
	}
	for name, c := range same {
		assert.Equal(t, hashOf(t, c[0]...), hashOf(t, c[1]...), name)
	}
	other := map[string][2][]any{
		"data":          {{base}, {configMapOf(func(c *corev1.ConfigMap) { c.Data["a"] = "2" })}},
		"a key more":    {{base}, {configMapOf(func(c *corev1.ConfigMap) { c.Data["c"] = "" })}},
		"binary data":   {{base}, {configMapOf(func(c *corev1.ConfigMap) { c.BinaryData["x"] = []byte{1} })}},
		"name":          {{base}, {configMapOf(func(c *corev1.ConfigMap) { c.Name = "d" })}},
		"kind":          {{&corev1.ConfigMap{}}, {&corev1.Secret{}}},
		"swapped":       {{config("a"), configMapOf(nil)}, {configMapOf(func(c *corev1.ConfigMap) { c.Name = "a" }), func() any { c := config("a"); c.Name = "c"; return c }()}},
		"one more":      {{base}, {base, secret}},
		"a value":       {{settings{Name: "a"}}, {settings{Name: "b"}}},
		"empty list":    {{settings{Name: "a"}}, {settings{Name: "a", List: []string{}}}}, // hashstructure's rule
		"order in list": {{[]string{"a", "b"}}, {[]string{"b", "a"}}},
		"spec":          {{policy}, {&networkingv1.NetworkPolicy{ObjectMeta: policy.ObjectMeta}}},
	}
	for name, c := range other {
		assert.NotEqual(t, hashOf(t, c[0]...), hashOf(t, c[1]...), name)
	}
	assert.Equal(t, hashOf(t, base), hashOf(t, base))
	assert.Equal(t, "6eb57b35c5", hashOf(t, base)[:10], "the same in each release: another one rolls all pods")
}

func TestHashFromMisused(t *testing.T) {
	for name, c := range map[string]struct {
		child client.Object
		of    any
		says  string
	}{
		"no template": {config("c"), config("d"), "no pod template"},
		"a pod":       {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, config("d"), "no pod template"},
		"nil":         {deployment("web"), nil, "argument 1, a <nil>: is nil"},
		"typed nil":   {deployment("web"), (*corev1.ConfigMap)(nil), "is nil"},
		"a function":  {deployment("web"), func() {}, "func()"},
		"unknown":     {deployment("web"), &thing{}, "no kind"},
	} {
		_, err := engineWith(interceptor.Funcs{}).For(owner()).Object(c.child, HashFrom(c.of)).Reconcile(t.Context())
		require.ErrorIs(t, err, ErrMisuse, name)
		assert.ErrorContains(t, err, c.says, name)
	}
}

func TestConfigIsInTheHash(t *testing.T) {
	hash := func(of ...any) uint64 {
		h, ok := Want(deployment("web"), HashFrom(of...)).desired.Hash()
		require.True(t, ok)
		return h
	}
	assert.Equal(t, hash(config("c"), 1, "a", settings{Name: "x"}), hash(config("c"), 1, "a", settings{Name: "x"}))
	assert.NotEqual(t, hash(config("c")), hash(configMapOf(nil)))
	assert.NotEqual(t, hash(settings{Name: "x"}), hash(settings{Name: "y"}))
	_, ok := Want(deployment("web"), HashFrom(func() {})).desired.Hash()
	assert.False(t, ok)
}
