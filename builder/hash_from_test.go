package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/confighash"
	"github.com/armature-dev/armature/internal/wellknown"
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
	digest, err := confighash.Of(HashFrom(of...).(hashFrom), engineWith(interceptor.Funcs{}).kinds.GVK)
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
			c.OwnerReferences, c.Immutable = []metav1.OwnerReference{{UID: "o"}}, ptr.To(true)
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

func podSpecs(t *testing.T) map[string]client.Object {
	d := deployment("web")
	template := d.Spec.Template
	all := map[string]client.Object{
		"Deployment":            d,
		"StatefulSet":           &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: template}},
		"DaemonSet":             &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: template}},
		"ReplicaSet":            &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: template}},
		"Job":                   &batchv1.Job{Spec: batchv1.JobSpec{Template: template}},
		"CronJob":               &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}}},
		"PodTemplate":           &corev1.PodTemplate{Template: template},
		"ReplicationController": &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Template: &template}},
	}
	all["unstructured Deployment"] = untyped(t, d, "apps/v1", "Deployment")
	all["unstructured CronJob"] = untyped(t, all["CronJob"], "batch/v1", "CronJob")
	for _, obj := range all {
		obj.SetName("web")
	}
	return all
}

// templateIn returns the pod template somewhere in an object.
func templateIn(fields map[string]any) map[string]any {
	for name, value := range fields {
		in, _ := value.(map[string]any)
		if spec, _ := in["spec"].(map[string]any); name == "template" && spec["containers"] != nil {
			return in
		}
		if template := templateIn(in); template != nil {
			return template
		}
	}
	return nil
}

func TestHashGoesIntoPodTemplates(t *testing.T) {
	for name, obj := range podSpecs(t) {
		t.Run(name, func(t *testing.T) {
			before := obj.DeepCopyObject()
			want := hashOf(t, configMapOf(nil))
			d := stampedWith(t, obj, HashFrom(configMapOf(nil)))
			assert.Equal(t, before, obj, "the object given stays as it is")
			again := stampedWith(t, d.object, HashFrom(configMapOf(nil)))
			assert.Equal(t, d.digest, again.digest, "an object read from a cluster can be desired: the variable is replaced")
			assert.NotEqual(t, stampedWith(t, obj).digest, d.digest)
			u := untyped(t, d.object, "x/v1", "X")
			env := templateIn(u.Object)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"].([]any)
			assert.Equal(t, map[string]any{"name": wellknown.EnvConfigHash, "value": want}, env[len(env)-1])
			assert.Len(t, env, 2)
		})
	}
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

func TestHashFromSharesNothing(t *testing.T) {
	cm, secret := configMapOf(nil), &corev1.Secret{Data: map[string][]byte{"a": nil}, StringData: map[string]string{"b": "c"}}
	cmBefore, secretBefore := cm.DeepCopy(), secret.DeepCopy()
	option := HashFrom(cm, secret)
	a, b := deployment("a"), deployment("b")
	b.Spec.Template.Spec.Containers = a.Spec.Template.Spec.Containers // shared by those who desire them
	stampedWith(t, a, option)
	stampedWith(t, b, option)
	assert.Equal(t, cmBefore, cm)
	assert.Equal(t, secretBefore, secret)
	assert.Len(t, a.Spec.Template.Spec.Containers[0].Env, 1)
}

func TestConfigIsInTheHash(t *testing.T) {
	hash := func(of ...any) uint64 {
		h, ok := Want(deployment("web"), HashFrom(of...)).hash()
		require.True(t, ok)
		return h
	}
	assert.Equal(t, hash(config("c"), 1, "a", settings{Name: "x"}), hash(config("c"), 1, "a", settings{Name: "x"}))
	assert.NotEqual(t, hash(config("c")), hash(configMapOf(nil)))
	assert.NotEqual(t, hash(settings{Name: "x"}), hash(settings{Name: "y"}))
	_, ok := Want(deployment("web"), HashFrom(func() {})).hash()
	assert.False(t, ok)
}
