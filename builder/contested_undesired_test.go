package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// reconciles runs a pass of another desired state than the Deployment.
func (r *rivalry) reconciles(b *builder.Builder) builder.Result {
	r.t.Helper()
	res, err := b.Reconcile(r.t.Context())
	require.NoError(r.t, err)
	return res
}

func TestContestOfAChildThatIsNoLongerDesired(t *testing.T) {
	for name, c := range map[string]struct {
		contest func(*rivalry) builder.Result
		without func(*rivalry) *builder.Builder
	}{
		"its fields, left alone": {contestFields, func(r *rivalry) *builder.Builder { return r.engine.For(r.owner) }},
		"its fields, pruned":     {contestFields, func(r *rivalry) *builder.Builder { return r.engine.For(r.owner).Prune(&appsv1.Deployment{}) }},
		"its existence":          {contestExistence, func(r *rivalry) *builder.Builder { return r.engine.For(r.owner) }},
		"its existence, pruned":  {contestExistence, func(r *rivalry) *builder.Builder { return r.engine.For(r.owner).Prune(&appsv1.Deployment{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRivalry(t)
			require.Len(t, builder.Contested(c.contest(r)), 1)
			res := r.reconciles(c.without(r))
			assert.Empty(t, builder.Contested(res))
			assert.Zero(t, res.RequeueAfter, "there is nothing to look for")
		})
	}
}

// A plan may name a child only while it isn't there. The rate at which it is created again is limited all the same.
func TestContestOfAChildThatIsDesiredOnlyWhileItIsMissing(t *testing.T) {
	r := newRivalry(t)
	begun, creations := r.ours.Now(), 0
	for r.ours.Now().Sub(begun) < 10*time.Minute {
		require.NoError(t, client.IgnoreNotFound(r.others.Delete(t.Context(), newWorkload("web"))))
		if res := r.pass(); len(res.Changes) > 0 {
			creations++
			r.reconciles(r.engine.For(r.owner))
		} else {
			r.server.Clock().Step(res.RequeueAfter)
		}
	}
	assert.LessOrEqual(t, creations, 14)
}

// What the builder prunes itself is forgotten: another of that name begins anew.
func TestContestOfAPrunedChildIsForgotten(t *testing.T) {
	r := newRivalry(t)
	require.Len(t, builder.Contested(contestFields(r)), 1)
	r.reconciles(r.engine.For(r.owner).Prune(&appsv1.Deployment{}))
	r.pass()
	r.scaleTo(5)
	res := r.pass()
	assert.Len(t, res.Changes, 1, "put back at once")
	assert.Empty(t, builder.Contested(res))
}

// A pass that fails before it knows what is desired leaves the contests as they are.
func TestContestOutlivesAPassThatKnowsNothing(t *testing.T) {
	r := newRivalry(t)
	require.Len(t, builder.Contested(contestFields(r)), 1)
	res, err := r.engine.For(r.owner).Deployment(r.desired).Deployment(r.desired).Reconcile(t.Context())
	require.ErrorIs(t, err, builder.ErrMisuse)
	assert.Len(t, builder.Contested(res), 1)
}

func contestFields(r *rivalry) (res builder.Result) {
	for range 3 {
		r.scaleTo(5)
		res = r.pass()
	}
	return res
}

func contestExistence(r *rivalry) (res builder.Result) {
	for range 4 {
		require.NoError(r.t, client.IgnoreNotFound(r.others.Delete(r.t.Context(), newWorkload("web"))))
		res = r.pass()
	}
	return res
}
