package builder_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

func TestExternal(t *testing.T) {
	var load int
	var fails error
	looks, plans := 0, []int{} // each once, as a plan is called twice in tests
	plan := func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		n, ok := builder.External[int](seen)
		if ok && !slices.Contains(plans, n) {
			plans = append(plans, n)
		}
		if state, _ := builder.External[any](seen); ok {
			assert.Equal(t, n, state)
		}
		return ownerPlan{}
	}
	s := perform(t, plan, func(o *operator) {
		o.External(func(_ context.Context, owner *appsv1.Deployment, _ builder.View) (any, error) {
			assert.Equal(t, "owner", owner.Name)
			looks++
			return load, fails
		})
	})
	load = 3
	assert.Empty(t, s.passes())
	assert.Equal(t, []int{3}, plans)

	fails = errors.New("no route")
	_, _, err := s.pass()
	assert.ErrorContains(t, err, "no route")
	assert.Equal(t, []int{3}, plans, "there is no plan without it")

	fails = nil
	owner := get(s, newOwner())
	owner.Finalizers = []string{"example.com/hold"}
	require.NoError(t, s.others.Update(t.Context(), owner))
	require.NoError(t, s.others.Delete(t.Context(), owner))
	assert.Empty(t, s.passes())
	assert.Equal(t, 2, looks, "no one asks for an owner that is being deleted")
}

// An unchecked External of another type would be the zero state, with which a plan would remove what it has.
func TestExternalOfAnotherType(t *testing.T) {
	backlog := 90
	returns := any(&backlog)
	plan := func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		n, _ := builder.External[int](seen)
		return wants(builder.Want(newJob(fmt.Sprintf("job-%d", n))))
	}
	s := perform(t, plan, func(o *operator) {
		o.Owns(&batchv1.Job{}).External(func(context.Context, *appsv1.Deployment, builder.View) (any, error) { return returns, nil })
	})
	writes, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrMisuse)
	require.ErrorContains(t, err, "asks for External[int] and the operator's observe function returned a *int")
	assert.Empty(t, writes)

	returns = nil
	writes, _, err = s.pass()
	require.NoError(t, err, "nothing was observed")
	assert.Len(t, writes, 1)
}

func TestWithExternal(t *testing.T) {
	v := buildertest.NewView(metav1.Now().Time)
	_, ok := builder.External[int](v)
	assert.False(t, ok)
	n, ok := builder.External[int](buildertest.WithExternal(v, 7))
	assert.True(t, ok)
	assert.Equal(t, 7, n)
}
