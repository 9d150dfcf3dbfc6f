package builder_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

func TestLookup(t *testing.T) {
	at := func(namespace, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	first := at("a", "both")
	children := []client.Object{at("b", "both"), first, at("b", "only"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}}}
	for i := range 20 {
		children = append(children, at("a", fmt.Sprint("c", i)), at("ab", fmt.Sprint("d", i)))
	}
	v := buildertest.NewView(time.Time{}, children...)
	for i := range 20 {
		for _, prefix := range []string{"c", "d"} {
			got, ok := builder.Lookup[*corev1.ConfigMap](v, fmt.Sprint(prefix, i))
			assert.True(t, ok)
			assert.Equal(t, fmt.Sprint(prefix, i), got.Name)
		}
	}
	got, ok := builder.Lookup[*corev1.ConfigMap](v, "both")
	assert.True(t, ok)
	assert.Same(t, first, got, "of the first namespace")
	got, ok = builder.Lookup[*corev1.ConfigMap](v, "only")
	assert.True(t, ok)
	assert.Equal(t, "b", got.Namespace)
	for _, missing := range []string{"secret", "", "zzz", "c"} {
		got, ok = builder.Lookup[*corev1.ConfigMap](v, missing)
		assert.False(t, ok)
		assert.Nil(t, got)
	}
	_, ok = builder.Lookup[*corev1.Secret](v, "secret")
	assert.True(t, ok, "of no namespace")
	_, ok = builder.Lookup[*corev1.Pod](builder.View{}, "x")
	assert.False(t, ok)
}

func TestView(t *testing.T) {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	configMap := func(name string) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: named(name)} }
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	v := buildertest.NewView(time.Unix(1, 0), configMap("b"), &appsv1.Deployment{ObjectMeta: named("d")}, configMap("a"))
	var names []string
	for _, c := range builder.Owned[*corev1.ConfigMap](v) {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"a", "b"}, names, "in order")
	assert.Len(t, builder.Owned[*appsv1.Deployment](v), 1)
	assert.Empty(t, builder.Owned[*corev1.Secret](v))
	_, ok := builder.Lookup[*corev1.Secret](v, "s")
	assert.False(t, ok)

	with := buildertest.WithWatched(v, secret)
	got, ok := builder.Lookup[*corev1.Secret](with, "s")
	assert.True(t, ok)
	assert.Same(t, secret, got)
	_, ok = builder.Lookup[*corev1.ConfigMap](with, "s")
	assert.False(t, ok, "another kind")
	_, ok = builder.Lookup[*corev1.Secret](v, "s")
	assert.False(t, ok, "the first view stays as it was")
	assert.Empty(t, builder.Owned[*corev1.ConfigMap](builder.View{}), "the zero value is empty")

	watched := buildertest.WithWatched(v, configMap("c"))
	_, ok = builder.Lookup[*corev1.ConfigMap](watched, "c")
	assert.False(t, ok, "a watched object isn't taken for a child")
}
