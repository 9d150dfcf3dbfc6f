package builder

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	v := NewView(time.Time{}, children...)
	for i := range 20 {
		for _, prefix := range []string{"c", "d"} {
			got, ok := Lookup[*corev1.ConfigMap](v, fmt.Sprint(prefix, i))
			assert.True(t, ok)
			assert.Equal(t, fmt.Sprint(prefix, i), got.Name)
		}
	}
	got, ok := Lookup[*corev1.ConfigMap](v, "both")
	assert.True(t, ok)
	assert.Same(t, first, got, "of the first namespace")
	got, ok = Lookup[*corev1.ConfigMap](v, "only")
	assert.True(t, ok)
	assert.Equal(t, "b", got.Namespace)
	for _, missing := range []string{"secret", "", "zzz", "c"} {
		got, ok = Lookup[*corev1.ConfigMap](v, missing)
		assert.False(t, ok)
		assert.Nil(t, got)
	}
	_, ok = Lookup[*corev1.Secret](v, "secret")
	assert.True(t, ok, "of no namespace")
	_, ok = Lookup[*corev1.Pod](View{}, "x")
	assert.False(t, ok)
}
