package fasthash

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"
)

func of(t require.TestingT, v any) uint64 {
	h, ok := Of(v)
	require.True(t, ok, "%T", v)
	return h
}

func anyObject(t *rapid.T, label string) runtime.Object {
	obj := rapid.SampledFrom([]runtime.Object{
		&appsv1.Deployment{}, &batchv1.CronJob{}, &corev1.Service{}, &corev1.Secret{}, &corev1.Pod{},
	}).Draw(t, label).DeepCopyObject()
	randfill.NewWithSeed(rapid.Int64Range(0, 1<<20).Draw(t, label+" seed")).NilChance(0.6).NumElements(1, 3).MaxDepth(9).
		Funcs(func(*[]metav1.ManagedFieldsEntry, randfill.Continue) {}). // random bytes are none
		Fill(obj)
	return obj
}

func TestEqualObjectsHashAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obj := anyObject(t, "object")
		assert.Equal(t, of(t, obj), of(t, obj.DeepCopyObject()))
	})
}

// The slow way to tell objects apart is their JSON. What is different there must be different here.
func TestDifferentObjectsHashDifferently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyObject(t, "a"), anyObject(t, "b")
		x, err := json.Marshal(a)
		require.NoError(t, err)
		y, err := json.Marshal(b)
		require.NoError(t, err)
		if string(x) != string(y) {
			assert.NotEqual(t, of(t, a), of(t, b))
		}
	})
}

func TestOneChangeIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obj := anyObject(t, "object")
		changed := obj.DeepCopyObject()
		places := settable(reflect.ValueOf(changed).Elem(), nil)
		change(places[rapid.IntRange(0, len(places)-1).Draw(t, "place")])
		assert.NotEqual(t, of(t, obj), of(t, changed))
	})
}

func settable(v reflect.Value, found []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return settable(v.Elem(), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = settable(v.Field(i), found)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = settable(v.Index(i), found)
		}
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint8:
		return append(found, v)
	}
	return found
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8:
		v.SetUint(v.Uint() ^ 1)
	default:
		v.SetInt(v.Int() ^ 1)
	}
}

func TestTable(t *testing.T) {
	type object = map[string]any
	wrap := func(o object) *unstructured.Unstructured { return &unstructured.Unstructured{Object: o} }
	quantity := func(q string) *corev1.PodSpec {
		return &corev1.PodSpec{Overhead: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}}
	}
	cases := map[string]struct {
		a, b any
		same bool
	}{
		"nested JSON":              {wrap(object{"a": []any{int64(1), "x", nil}}), wrap(object{"a": []any{int64(1), "x", nil}}), true},
		"border between strings":   {wrap(object{"a": []any{"ab", "c"}}), wrap(object{"a": []any{"a", "bc"}}), false},
		"border between lists":     {wrap(object{"a": []any{[]any{"x"}, []any{}}}), wrap(object{"a": []any{[]any{}, []any{"x"}}}), false},
		"keys and values swapped":  {wrap(object{"a": "b"}), wrap(object{"b": "a"}), false},
		"values swapped":           {wrap(object{"a": "1", "b": "2"}), wrap(object{"a": "2", "b": "1"}), false},
		"false and absent":         {wrap(object{"a": false}), wrap(object{}), false},
		"number and string":        {wrap(object{"a": int64(1)}), wrap(object{"a": "1"}), false},
		"quantity":                 {quantity("1"), quantity("1"), true},
		"quantity, other":          {quantity("1"), quantity("2"), false},
		"quantity, fraction":       {quantity("0.5"), quantity("500m"), true},
		"quantity, whole":          {quantity("1"), quantity("1000m"), true},
		"quantity, another format": {quantity("1024"), quantity("1Ki"), false},
		"quantity, other fraction": {quantity("0.5"), quantity("501m"), false},
		"pointer and none":         {&corev1.PodSpec{HostUsers: new(bool)}, &corev1.PodSpec{}, false},
		"neighbouring fields":      {&corev1.EnvVar{Name: "a"}, &corev1.EnvVar{Value: "a"}, false},
		"types":                    {&corev1.ConfigMap{}, &corev1.Secret{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.same, of(t, c.a) == of(t, c.b))
		})
	}
}

func TestWhatCannotBeHashed(t *testing.T) {
	type hidden struct{ a int }
	type function struct{ F func() }
	type recursive struct {
		Next *recursive
		All  []recursive
		By   map[int]recursive
	}
	for _, v := range []any{nil, 1, (*corev1.Pod)(nil), &hidden{1}, &function{}, &unstructured.Unstructured{Object: map[string]any{"f": func() {}}}} {
		_, ok := Of(v)
		assert.False(t, ok, "%T", v)
	}
	_ = hidden{}.a
	deep := &recursive{Next: &recursive{}, All: []recursive{{}}, By: map[int]recursive{1: {}}}
	assert.NotEqual(t, of(t, deep), of(t, &recursive{}))
}

func TestOrderOfMapsDoesNotMatter(t *testing.T) {
	keys := rand.Perm(100)
	a, b := map[int32]string{}, map[int32]string{}
	for _, k := range keys {
		a[int32(k)] = "v"
	}
	for k := range 100 {
		b[int32(k)] = "v"
	}
	type holder struct{ M map[int32]string }
	assert.Equal(t, of(t, &holder{a}), of(t, &holder{b}))
	b[7] = "w"
	assert.NotEqual(t, of(t, &holder{a}), of(t, &holder{b}))
}

// Strings of each length, and those that differ from them in one byte, all have hashes of their own.
func TestStrings(t *testing.T) {
	type holder struct{ A, B string }
	seen := map[uint64]string{}
	note := func(a, b string) {
		h := of(t, &holder{a, b})
		assert.Empty(t, seen[h], "%q %q", a, b)
		seen[h] = a + "|" + b
		assert.Equal(t, h, of(t, &holder{strings.Clone(a), strings.Clone(b)}))
	}
	for n := range 40 {
		text := strings.Repeat("a", n)
		note(text, "")
		for i := range n {
			note(text[:i]+"b"+text[i+1:], "")
			if i > 0 {
				note(text[:i], text[i:])
			}
		}
	}
}
