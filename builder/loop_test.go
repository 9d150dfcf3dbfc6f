package builder

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestWhenToLookAgain(t *testing.T) {
	minute := time.Minute
	cases := map[string]struct {
		after     time.Duration
		err       error
		want      time.Duration
		retried   bool
		abandoned bool
	}{
		"done":                          {0, nil, 0, false, false},
		"in a minute":                   {minute, nil, minute, false, false},
		"conflict":                      {minute, of(conflict), conflictDelay, false, false},
		"transient":                     {minute, of(full), 0, true, false},
		"terminal":                      {0, of(invalid), 0, false, true},
		"terminal, with a time":         {minute, of(invalid), minute, false, false},
		"terminal, and the status lost": {minute, errors.Join(of(invalid), of(full)), 0, true, false},
		"terminal, and a conflict":      {minute, errors.Join(of(invalid), of(conflict)), 0, true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := next(t.Context(), c.after, c.err)
			assert.Equal(t, c.want, res.RequeueAfter)
			abandoned := errors.Is(err, reconcile.TerminalError(nil))
			assert.Equal(t, c.abandoned, abandoned)
			assert.Equal(t, c.retried, err != nil && !abandoned)
		})
	}
}

func TestSooner(t *testing.T) {
	for _, c := range [][3]time.Duration{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 1, 1}, {-1, 2, 2}, {2, -1, 2}, {-1, -1, 0}} {
		assert.Equal(t, c[2], sooner(c[0], c[1]), "%v", c)
	}
}

func TestOwnerChanges(t *testing.T) {
	meta := func(change func(*metav1.ObjectMeta)) *appsv1.Deployment {
		d := deployment("web")
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
			assert.Equal(t, c.passes, ownerChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: meta(c.change)}))
		})
	}
	a, b := owner(), owner()
	b.ResourceVersion = "2"
	assert.True(t, ownerChanged.Update(event.UpdateEvent{ObjectOld: a, ObjectNew: b}), "a kind without generations")
	assert.True(t, ownerChanged.Create(event.CreateEvent{Object: a}))
}

func TestView(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	v := NewView(time.Unix(1, 0), config("b"), deployment("d"), config("a"))
	names := func(v View) (names []string) {
		for _, c := range Owned[*corev1.ConfigMap](v) {
			names = append(names, c.Name)
		}
		return names
	}
	assert.Equal(t, []string{"a", "b"}, names(v), "in order")
	assert.Len(t, Owned[*appsv1.Deployment](v), 1)
	assert.Empty(t, Owned[*corev1.Secret](v))
	_, ok := Lookup[*corev1.Secret](v, "s")
	assert.False(t, ok)

	with := v.With([]client.Object{secret}, nil)
	got, ok := Lookup[*corev1.Secret](with, "s")
	assert.True(t, ok)
	assert.Same(t, secret, got)
	_, ok = Lookup[*corev1.ConfigMap](with, "s")
	assert.False(t, ok, "another kind")
	_, ok = Lookup[*corev1.Secret](v, "s")
	assert.False(t, ok, "the first view stays as it was")
	assert.Empty(t, Owned[*corev1.ConfigMap](View{}), "the zero value is empty")

	watched := v.With([]client.Object{config("c")}, nil)
	_, ok = Lookup[*corev1.ConfigMap](watched, "c")
	assert.False(t, ok, "a watched object isn't taken for a child")
	watched.misuse = &misuse{declared: NewOperator[*corev1.Pod](nil, "test").Owns(&corev1.Secret{}).declarations()}
	_, ok = Lookup[*corev1.Secret](watched.With([]client.Object{secret}, nil), "s")
	assert.False(t, ok, "nor if there is no child")
}
