package view

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/plancheck"
)

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// A watched object never stands for a child, also if the owner has no child of that name.
func TestLookupOfAnOwnedKind(t *testing.T) {
	watched := func(o *Observed) { o.Watch(slices.Values([]client.Object{configMap("default", "c")})) }
	var o Observed
	watched(&o)
	_, ok := Lookup[*corev1.ConfigMap](o, "c")
	assert.True(t, ok)
	declared := &plancheck.Declared{}
	declared.Owns(&corev1.ConfigMap{}, false)
	o.Asked = &plancheck.Asked{Declared: declared}
	_, ok = Lookup[*corev1.ConfigMap](o, "c")
	assert.False(t, ok)
	assert.NoError(t, o.Asked.Err())
	_, ok = Lookup[*corev1.Pod](o, "c")
	assert.False(t, ok)
	assert.ErrorIs(t, o.Asked.Err(), failure.ErrMisuse)
}

// Two sources that list the same object show it once; a copy of the view stays as it was.
func TestAddAndWatch(t *testing.T) {
	var o Observed
	ofConfigMap := reflect.TypeFor[*corev1.ConfigMap]()
	o.Add(plancheck.Watched, ofConfigMap, []client.Object{configMap("b", "x"), configMap("a", "y")})
	o.Add(plancheck.Watched, ofConfigMap, []client.Object{configMap("a", "y"), configMap("a", "x")})
	before := o
	o.Watch(slices.Values([]client.Object{configMap("c", "x")}))
	names := func(o Observed) (all []string) {
		for _, c := range Watched[*corev1.ConfigMap](o) {
			all = append(all, c.Namespace+"/"+c.Name)
		}
		return all
	}
	assert.Equal(t, []string{"a/x", "a/y", "b/x"}, names(before))
	assert.Equal(t, []string{"a/x", "a/y", "b/x", "c/x"}, names(o))
	assert.Empty(t, Owned[*corev1.ConfigMap](o))
}

// A record has no Go type, so its state must not pass for the one of an interface: a number would be a float64, and a struct a map.
func TestExternalOfARecord(t *testing.T) {
	declared := &plancheck.Declared{}
	declared.External()
	o := Observed{External: Recorded("7"), Asked: &plancheck.Asked{Declared: declared}}
	n, ok := External[int](o)
	assert.True(t, ok)
	assert.Equal(t, 7, n)
	require.NoError(t, o.Asked.Err())
	_, ok = External[any](o)
	assert.False(t, ok)
	assert.ErrorIs(t, o.Asked.Err(), failure.ErrMisuse)
}
