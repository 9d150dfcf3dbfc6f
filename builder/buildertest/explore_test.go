package buildertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// chained is three Jobs, one after the other.
func chained() buildertest.Scenario {
	s := by(chain)
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	return s
}

func TestExploreOfASoundReconciler(t *testing.T) {
	report := buildertest.Explore(t, chained(), buildertest.Bounds{})
	assert.True(t, report.Exhausted)
	assert.Equal(t, 1, report.Ends)
	few := report.States

	report = buildertest.Explore(t, chained(), buildertest.Bounds{Crashes: 2, StaleReads: 2, Lag: 3, Walks: 20, Seed: 1})
	assert.True(t, report.Exhausted)
	assert.Greater(t, report.States, 2*few)
	assert.Greater(t, report.Walked, few)

	report = buildertest.Explore(t, chained(), buildertest.Bounds{LostReplies: 1})
	assert.True(t, report.Exhausted)
	assert.Greater(t, report.States, few)

	report = buildertest.Explore(t, chained(), buildertest.Bounds{Crashes: 1, States: 10})
	assert.False(t, report.Exhausted)
	assert.Contains(t, report.String(), "the first ")
}

// writes sets a field of the owner's data.
func writes(value string) func(c *buildertest.Client) (reconcile.Reconciler, error) {
	return func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			owner := &corev1.ConfigMap{}
			if err := c.Get(ctx, req.NamespacedName, owner); err != nil || owner.Data["image"] == value {
				return reconcile.Result{}, err
			}
			owner.Data["image"] = value
			return reconcile.Result{}, c.Update(ctx, owner)
		}), nil
	}
}

func TestExploreFindsTwoOperatorsThatFight(t *testing.T) {
	s := by(nil)
	s.Reconciler = writes("a")
	s.Others = []buildertest.Process{{Name: "other", Requests: s.Requests, Reconciler: writes("b")}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrNoRest)
	assert.ErrorContains(t, err, "pass of default/owner by other")

	s.Others[0].Reconciler = writes("a")
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 2})
	assert.True(t, report.Exhausted)

	s.Others[0].Name = ""
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	assert.ErrorContains(t, err, "needs a Name, a Reconciler and Requests")
}

// mirror copies a ConfigMap that the owner names. all says whether its events enqueue the owner.
func mirror(all bool) buildertest.Scenario {
	return buildertest.Scenario{
		Objects:  []client.Object{configMap("owner"), configMap("source")},
		Requests: []reconcile.Request{request("owner")},
		Then:     []buildertest.Edit{buildertest.Change(configMap("source"), func(o *corev1.ConfigMap) { o.Data["a"] = "2" })},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			operator := builder.NewOperator[*corev1.ConfigMap](nil, "mirror").
				Owns(&corev1.ConfigMap{}).
				Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*corev1.ConfigMap) []string { return []string{"source"} }),
					builder.EnqueueFor(func(_, _ *corev1.ConfigMap) (bool, []types.NamespacedName) { return all, nil })).
				Plan(func(_ *corev1.ConfigMap, v builder.View) builder.Plan[*corev1.ConfigMap] {
					copied := configMap("copy")
					for _, source := range builder.Watched[*corev1.ConfigMap](v) {
						copied.Data = source.Data
					}
					return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(copied)}}
				})
			return buildertest.NewReconciler(operator, c, c.Now)
		},
	}
}

func TestExploreWakesWhatAManagerWouldWake(t *testing.T) {
	bounds := buildertest.Bounds{Crashes: 1, StaleReads: 1, Edits: 1}
	report := buildertest.Explore(t, mirror(true), bounds)
	assert.True(t, report.Exhausted)
	_, err := buildertest.FindCounterexample(t.Context(), mirror(false), bounds)
	require.ErrorIs(t, err, buildertest.ErrNoRest, "an event of the source enqueues nobody, and a new process changes the copy")
}

func TestExploreChecksInvariantsAndErrors(t *testing.T) {
	s := chained()
	bad := errors.New("three Jobs")
	s.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "owner-2"}, jobOf(configMap("owner"), "owner-2")); err == nil {
			return bad
		}
		return nil
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, bad)

	s = by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, bad
	})
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrStuck)
	s.Tolerate = func(err error) bool { return errors.Is(err, bad) }
	buildertest.Explore(t, s, buildertest.Bounds{})
}

func TestReplayOfAWrongStory(t *testing.T) {
	for story, says := range map[string]string{
		"1. pass of default/nobody":           `"pass of default/nobody" can't happen after`,
		"pass of default/owner":               "it must be a number, a dot, a space and a step",
		"1. pass of default/owner (no times)": "the number of times must be a number",
		"given that operators also read Pod, Job.apps:\n1. pass of default/owner": `also read "Job.apps"; it must be a kind of the scenario`,
	} {
		assert.ErrorContains(t, buildertest.Replay(t.Context(), chained(), buildertest.Bounds{}, story), says)
	}
	assert.NoError(t, buildertest.Replay(t.Context(), chained(), buildertest.Bounds{}, "1. pass of default/owner\n"))
}
