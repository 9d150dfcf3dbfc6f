package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// A manager that stops cancels the requests of its passes. That is no failure of their owners, and no event says so.
func TestAStopIsNoFailure(t *testing.T) {
	f := newFleet(t, "a")
	f.starts(one)
	ctx, stop := context.WithCancel(t.Context())
	f.operator.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "a", Error: func(buildertest.Call) error {
		stop()
		return context.Canceled
	}})
	_, err := f.Reconcile(ctx, reconcile.Request{NamespacedName: key("a")})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, f.operator.Events())
	assert.Empty(t, f.flow("a").Status.Conditions)
}

// That holds for a Builder's pass in a reconciler of the user's own, too.
func TestAStopIsNoFailureOfABuilder(t *testing.T) {
	f := newFleet(t, "a")
	ours := f.server.Client("ours")
	engine := buildertest.NewEngine(ours, builder.Options{Name: "ours", Recorder: ours.Recorder()}, buildertest.EngineOptions{Clock: ours.Now})
	ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Name: "c", Error: func(buildertest.Call) error { return context.Canceled }})
	_, err := engine.For(f.flow("a")).Object(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}).Reconcile(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, ours.Events())
}

// A function that panics over an owner's spec is reported on the owner, and tried again when that changes.
func TestAPanicOfTheNamesIsReported(t *testing.T) {
	f := newFleet(t, "a")
	ours := f.server.Client("ours")
	op := builder.NewOperator[*v1alpha1.JobFlow](nil, "names").
		Watches(&corev1.ConfigMap{}, builder.ReferencedBy(func(*v1alpha1.JobFlow) []string { panic("no name") })).
		Plan(func(*v1alpha1.JobFlow, builder.View) builder.Plan[*v1alpha1.JobFlow] {
			return builder.Plan[*v1alpha1.JobFlow]{Report: true}
		})
	r, err := buildertest.NewReconciler(op, ours, ours.Now)
	require.NoError(t, err)
	for range 2 {
		_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key("a")})
		require.ErrorIs(t, err, reconcile.TerminalError(nil))
		require.ErrorIs(t, err, builder.ErrMisuse)
	}
	require.Len(t, ours.Events(), 1)
	assert.Contains(t, ours.Events()[0].Note, "panicked: no name")
	assert.Equal(t, events.ReasonInvalidPlan, meta.FindStatusCondition(f.flow("a").Status.Conditions, events.ConditionReady).Reason)
}
