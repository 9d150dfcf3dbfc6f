package sources

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestOwnerChanges(t *testing.T) {
	meta := func(change func(*metav1.ObjectMeta)) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"app": "web"}}}
		d.Generation, d.ResourceVersion = 1, "2"
		change(&d.ObjectMeta)
		return d
	}
	before := meta(func(m *metav1.ObjectMeta) { m.ResourceVersion = "1" })
	now := metav1.Now()
	cases := map[string]struct {
		change func(*metav1.ObjectMeta)
		passes bool
	}{
		"status":     {func(*metav1.ObjectMeta) {}, false},
		"resync":     {func(m *metav1.ObjectMeta) { m.ResourceVersion = "1" }, false},
		"spec":       {func(m *metav1.ObjectMeta) { m.Generation = 2 }, true},
		"label":      {func(m *metav1.ObjectMeta) { m.Labels = nil }, true},
		"annotation": {func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{"a": "b"} }, true},
		"record": {func(m *metav1.ObjectMeta) {
			m.Annotations = map[string]string{
				wellknown.AnnotationGroupKinds: "ConfigMap", wellknown.AnnotationGroupKindsCrossNamespace: "Node",
			}
		}, false},
		"deletion": {func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &now }, true},
		"another":  {func(m *metav1.ObjectMeta) { m.UID = "2" }, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.passes, OwnerChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: meta(c.change)}))
		})
	}
	a, b := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	a.ResourceVersion, b.ResourceVersion = "1", "2"
	assert.True(t, OwnerChanged.Update(event.UpdateEvent{ObjectOld: a, ObjectNew: b}), "a kind without generations")
	assert.True(t, OwnerChanged.Create(event.CreateEvent{Object: a}))
}
