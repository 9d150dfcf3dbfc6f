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
)

// heartbeat writes the time every minute.
func heartbeat(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
	if now := c.Now().Truncate(time.Minute).String(); owner.Data["beat"] != now {
		owner.Data["beat"] = now
		return reconcile.Result{RequeueAfter: time.Minute}, c.Update(ctx, owner)
	}
	return reconcile.Result{RequeueAfter: time.Minute}, nil
}

func TestARunOfAnOperatorThatWritesEachMinuteNeedsAStandingClock(t *testing.T) {
	s := by(heartbeat)
	err := buildertest.CheckCrashes(t.Context(), s)
	require.ErrorContains(t, err, "no fixed point after 100 rounds")
	require.ErrorContains(t, err, "needs ClockStands")
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrNoRest)
	require.ErrorContains(t, err, "within 300 steps; the last ones were\npass of default/owner\ntime passes\n")
	require.ErrorContains(t, err, "needs ClockStands")

	s.ClockStands = true
	require.NoError(t, buildertest.CheckCrashes(t.Context(), s))
	buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1})
}

func TestARequestOfNoObject(t *testing.T) {
	s := by(chain)
	s.Requests = append(s.Requests, request("ovner"))
	const says = "the request default/ovner is of no object"
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), s), says)
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorContains(t, err, says)

	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error { return c.Create(ctx, configMap("ovner")) }}
	buildertest.Explore(t, s, buildertest.Bounds{})
	s.Owner = &corev1.Secret{}
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	assert.ErrorContains(t, err, "is of no object", "it is one of another kind")
}
