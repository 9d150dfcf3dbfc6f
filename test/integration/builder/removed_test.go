package builder_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// gated returns a Pod that waits for scheduling gates, which anyone may remove and no one may add.
func gated(image, label string, gates ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"label": label}},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"no": "node"},
			Containers:   []corev1.Container{{Name: "c", Image: image, Resources: corev1.ResourceRequirements{}}},
		},
	}
	for _, gate := range gates {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "example.com/" + gate})
	}
	return pod
}

// A field that another writer has removed, and that can't be added again, is drift: nothing is deleted for it, whatever else is desired
// now. No managed field shows who removed it.
func TestRemovedFieldThatCannotBeAdded(t *testing.T) {
	recreate := builder.RecreateImmutable("")
	for name, left := range map[string]int{"the only one": 0, "one of two": 1} {
		for _, applied := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", as created", true: ", as applied"}[applied], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				gates := []string{"a", "b"}[:left+1]
				w.mustWant(true, "create", gated("a", "1", gates...), recreate)
				if applied {
					w.mustWant(true, "apply", gated("a", "2", gates...), recreate)
				}
				before := w.get(gated("", "")).GetUID()
				w.edit(gated("", ""), func(o client.Object) {
					pod := o.(*corev1.Pod)
					pod.Spec.SchedulingGates = pod.Spec.SchedulingGates[:left]
				})
				for _, desired := range []*corev1.Pod{gated("b", "2", gates...), gated("b", "3", gates...)} {
					desired.Annotations = map[string]string{"added": "too"}
					_, _, err := w.want(desired, recreate)
					require.ErrorContains(t, err, "spec.schedulingGates")
					require.ErrorContains(t, err, "changed since the last apply, and the API server refuses to change it back; nothing is deleted for it")
					require.NotErrorIs(t, err, builder.ErrImmutable)
					assert.Equal(t, before, w.get(desired).GetUID())
					assert.Zero(t, w.sent.count(http.MethodDelete, ""))
				}
				// The remedy: the field is left to the other writer.
				w.mustWant(true, "ignored", gated("b", "4", gates...), recreate, builder.Ignore("spec.schedulingGates"))
				assert.Equal(t, before, w.get(gated("", "")).GetUID())
			})
		}
	}
}

// A field that the plan itself adds, and that can't be added to the existing object, recreates it.
func TestAddedFieldThatCannotBeAdded(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	w.mustWant(true, "create", gated("a", "1"), recreate)
	w.mustWant(true, "apply", gated("a", "2"), recreate)
	before := w.get(gated("", "")).GetUID()
	for range 2 {
		res, _, err := w.want(gated("b", "3", "a"), recreate)
		require.NoError(t, err)
		assert.NotEmpty(t, res.Changes)
	}
	after := w.get(gated("", "")).(*corev1.Pod)
	assert.NotEqual(t, before, after.UID)
	assert.Len(t, after.Spec.SchedulingGates, 1)
}
