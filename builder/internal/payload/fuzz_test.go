package payload

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"
)

// FuzzDigest holds that a digest is of what an object says: not of the order of its maps, of nil against empty, or of a
// way through JSON, as another process would see it. And that it differs when a label does.
func FuzzDigest(f *testing.F) {
	kinds := []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}, &corev1.ConfigMap{}, &batchv1.Job{},
		&policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{}, &corev1.Secret{},
	}
	for kind := range kinds {
		for seed := range int64(10) {
			f.Add(uint8(kind), seed, uint8(seed*25))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, seed int64, empty uint8) {
		obj := kinds[int(kind)%len(kinds)].DeepCopyObject().(client.Object)
		randfill.NewWithSeed(seed).NilChance(0.2+0.75*float64(empty)/255).NumElements(0, 4).MaxDepth(12).
			Funcs(func(*metav1.FieldsV1, randfill.Continue) {}). // random bytes are none
			Fill(obj)
		first := digestOf(t, obj)
		assert.Equal(t, first, digestOf(t, obj), "the same object")
		assert.Equal(t, first, digestOf(t, rebuilt(reflect.ValueOf(obj)).Interface().(client.Object)), "nil for empty, maps in another order")

		data, err := json.Marshal(obj)
		require.NoError(t, err)
		read := kinds[int(kind)%len(kinds)].DeepCopyObject().(client.Object)
		require.NoError(t, json.Unmarshal(data, read))
		assert.Equal(t, first, digestOf(t, read), "by way of JSON")

		obj.SetLabels(map[string]string{"only": "this"})
		assert.NotEqual(t, first, digestOf(t, obj))
	})
}

func digestOf(t *testing.T, obj client.Object) string {
	fields, err := Of(obj, anyKind)
	require.NoError(t, err)
	digest, err := Digest(fields)
	require.NoError(t, err)
	return digest
}

// rebuilt copies a value, with nil for what is empty, and maps filled anew.
func rebuilt(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(rebuilt(v.Elem()))
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(rebuilt(v.Field(i)))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			out.Set(reflect.Append(out, rebuilt(v.Index(i))))
		}
	case reflect.Map:
		if v.Len() > 0 {
			out.Set(reflect.MakeMapWithSize(v.Type(), 2*v.Len()))
		}
		keys := v.MapKeys()
		for i := range keys {
			key := keys[len(keys)-1-i]
			out.SetMapIndex(key, rebuilt(v.MapIndex(key)))
		}
	default:
		out.Set(v)
	}
	return out
}
