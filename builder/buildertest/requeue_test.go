package buildertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// waiting is an operator that creates a ConfigMap a minute after its owner, and until then returns a result.
func waiting(until reconcile.Result) buildertest.Scenario {
	return by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if c.Now().Sub(owner.CreationTimestamp.Time) < time.Minute {
			return until, nil
		}
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, owned(configMap("late"), owner)))
	})
}

// controller-runtime repeats a pass that returns the deprecated Requeue, later each time.
func TestRequeueWithoutATime(t *testing.T) {
	late := configMap("late")
	s := waiting(reconcile.Result{Requeue: true}) //nolint:staticcheck // this is what it tests
	assert.True(t, exists(t, buildertest.Settle(t, s).Client(), late))

	s.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(late), late.DeepCopy()); err != nil {
			return client.IgnoreNotFound(err)
		}
		return assert.AnError
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, assert.AnError, "it exists at the end")

	w := world.New(newServer(configMap("owner")), world.Options{})
	_, err = w.AddManager("manager", world.Operator{Owner: &corev1.ConfigMap{}, Reconciler: s.Reconciler})
	require.NoError(t, err)
	require.NoError(t, w.Wait(t.Context(), 5*time.Minute))
	assert.True(t, exists(t, w.Server().Client(), late))
}
