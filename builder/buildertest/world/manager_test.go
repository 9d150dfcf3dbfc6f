package world_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

func TestTheLastLagCounts(t *testing.T) {
	w := newWorld(t, world.Options{})
	m, err := w.AddManager("manager")
	require.NoError(t, err)
	j, n := job(func(*batchv1.JobSpec) {}), node("n1")
	lags := func(obj client.Object) bool {
		return m.Client().Get(t.Context(), client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object)) != nil
	}
	require.NoError(t, m.Lag(9))
	others := w.Server().Client("others")
	require.NoError(t, others.Create(t.Context(), j))
	require.NoError(t, others.Create(t.Context(), n))
	assert.True(t, lags(j) && lags(n))
	require.NoError(t, m.Lag(9, &batchv1.Job{}))
	assert.True(t, lags(j) && !lags(n), "Jobs only")
	require.NoError(t, m.Lag(9, &corev1.Node{}))
	assert.True(t, !lags(j) && lags(n), "Nodes only")
	require.NoError(t, m.Lag(0))
	assert.False(t, lags(j) || lags(n))
}
