package buildertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		late := configMap("late")
		if err := c.Get(ctx, client.ObjectKeyFromObject(late), late); !apierrors.IsNotFound(err) {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, c.Create(ctx, owned(late, owner))
	})
}

// An operator that waits for a time and forgets to request a pass works only if an event comes late enough.
func TestExploreFindsAForgottenRequeue(t *testing.T) {
	_, err := buildertest.FindCounterexample(t.Context(), waiting(reconcile.Result{}), buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrNoRest)
	assert.ErrorContains(t, err, "no pass is requested, and one over default/owner a day later makes a change: create ConfigMap default/late")
	s := waiting(reconcile.Result{})
	s.ClockStands = true
	buildertest.Explore(t, s, buildertest.Bounds{})
	buildertest.Explore(t, waiting(reconcile.Result{RequeueAfter: time.Minute}), buildertest.Bounds{Crashes: 1})

	// Neither the time of the last pass is such a bug, nor what is written each day by passes each hour.
	for format, result := range map[string]reconcile.Result{time.RFC3339: {}, time.DateOnly: {RequeueAfter: time.Hour}} {
		buildertest.Explore(t, by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
			now := c.Now().Format(format)
			if owner.Data["now"] == now {
				return result, nil
			}
			owner.Data["now"] = now
			return result, c.Update(ctx, owner)
		}), buildertest.Bounds{})
	}
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
