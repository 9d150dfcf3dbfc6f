package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

// A pod that terminates is ready until its containers end, and the status counts it. A rolling update counts it as unavailable.
func TestADaemonSetCountsReadyPodsThatTerminate(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: demo("demo"), Spec: appsv1.DaemonSetSpec{Selector: selectDemo(), Template: templateOf("v1")}}
	stopsIn10s := func(*corev1.Pod) world.Script { return world.Script{Stop: 10 * time.Second} }
	w := newWorld(t, world.Options{Pods: stopsIn10s}, node("n1"), node("n2"), set)
	require.NoError(t, w.Settle(t.Context()))
	edit(t, w, set, func(set *appsv1.DaemonSet) { set.Spec.Template = templateOf("v2") })
	require.NoError(t, w.Settle(t.Context()))

	terminating := 0
	for _, name := range podNames(t, w, set) {
		if got(t, w, &corev1.Pod{}, name).DeletionTimestamp != nil {
			terminating++
		}
	}
	assert.Equal(t, 1, terminating)
	status := got(t, w, set, "demo").Status
	assert.EqualValues(t, 2, status.NumberReady)
	assert.EqualValues(t, 2, status.NumberAvailable)
	assert.EqualValues(t, 0, status.NumberUnavailable)

	require.NoError(t, w.Wait(t.Context(), time.Minute))
	assert.EqualValues(t, 2, got(t, w, set, "demo").Status.UpdatedNumberScheduled)
}
