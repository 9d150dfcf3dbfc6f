package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// Keep leaves a claim that someone has enlarged as it is, and asks no more.
func TestKeepLeavesDriftAsItIs(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	c.engine = builder.NewEngine(c, builder.Options{Name: "example", Recorder: c.Recorder()})
	claim := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
	}
	want := func() (builder.Result, error) {
		return c.engine.For(c.owner).Object(claim(), builder.KeepImmutable()).Reconcile(ctx)
	}
	_, err := want()
	require.NoError(t, err)
	found := claim()
	c.get(found)
	someone := c.server.Client("someone")
	found.Status.Phase = corev1.ClaimBound
	require.NoError(t, someone.Status().Update(ctx, found))
	found.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	require.NoError(t, someone.Update(ctx, found))
	found.Status.Capacity = found.Spec.Resources.Requests
	require.NoError(t, someone.Status().Update(ctx, found))
	kept := func() (n int) {
		for _, e := range c.Events() {
			if e.Reason == events.ReasonKept {
				n++
			}
		}
		return n
	}
	_, err = c.engine.For(c.owner).Object(claim(), builder.KeepImmutable()).Diff(ctx)
	require.NoError(t, err)
	assert.Zero(t, kept())
	res, err := want()
	require.NoError(t, err)
	assert.Equal(t, 1, res.Unchanged)
	assert.Equal(t, 1, kept(), "a dry run takes no event away")
	before := len(c.server.Ledger().Writes())
	_, err = want()
	require.NoError(t, err)
	assert.Len(t, c.server.Ledger().Writes(), before)
	c.get(found)
	assert.Equal(t, "2Gi", found.Spec.Resources.Requests.Storage().String())
}
