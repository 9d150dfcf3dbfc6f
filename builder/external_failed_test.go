package builder

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// The pass of an External that fails or panics has no plan, so the builder itself says on the owner why it isn't ready.
func TestAnExternalThatFailsIsReported(t *testing.T) {
	for name, report := range map[string]bool{"Report": true, "the plan's own conditions": false} {
		t.Run(name, func(t *testing.T) {
			plans := 0
			f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] {
				plans++
				return Plan[*v1alpha1.JobFlow]{Report: report}
			})
			ask := func() (any, error) { return 1, nil }
			f.reconciler.external = func(context.Context, *v1alpha1.JobFlow, View) (any, error) { return ask() }
			_, err := f.pass()
			require.NoError(t, err)
			ready, _, _ := f.conditions()
			planned := plans

			for text, fails := range map[string]func() (any, error){
				"observe the external state: no route": func() (any, error) { return nil, errors.New("no route") },
				"observe the external state: queues \"a\" is invalid": func() (any, error) {
					return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "queues"}, "a", nil)
				},
				"observe the external state: Operation cannot be fulfilled on queues \"a\": changed": func() (any, error) {
					return nil, apierrors.NewConflict(schema.GroupResource{Resource: "queues"}, "a", errors.New("changed"))
				},
				"observe the external state: " + ErrMisuse.Error():                         func() (any, error) { return nil, ErrMisuse },
				"observe the external state: it panicked: no token; the log has the stack": func() (any, error) { panic("no token") },
			} {
				ask = fails
				emitted, err := f.pass()
				require.EqualError(t, err, text)
				assert.NotErrorIs(t, err, reconcile.TerminalError(nil), "it is tried again")
				assert.Equal(t, []string{"ObservationFailed: " + text}, emitted)
				how, reason, message := f.conditions()
				assert.Equal(t, "F", how[:1])
				assert.NotEqual(t, "T", how[2:], "it isn't stalled")
				assert.Equal(t, "ObservationFailed: "+text, reason+": "+message)

				emitted, err = f.pass()
				require.EqualError(t, err, text)
				assert.Empty(t, emitted, "it is emitted once")
			}
			assert.Equal(t, planned, plans, "there is no plan without what it reads")

			ask = func() (any, error) { return 2, nil }
			_, err = f.pass()
			require.NoError(t, err)
			again, _, _ := f.conditions()
			assert.Equal(t, ready, again, "nothing of the failure is left")
		})
	}
}

// A manager that stops ends an External; that is no failure.
func TestAnExternalThatEndsWithItsContextIsNotReported(t *testing.T) {
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] { return Plan[*v1alpha1.JobFlow]{Report: true} })
	ctx, cancel := context.WithCancel(t.Context())
	f.reconciler.external = func(ctx context.Context, _ *v1alpha1.JobFlow, _ View) (any, error) {
		cancel()
		return nil, ctx.Err()
	}
	_, err := f.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.get())})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, f.told)
	how, _, _ := f.conditions()
	assert.Equal(t, "---", how)
}

// A failure doesn't hide that another writer changes a child.
func TestAnExternalThatFailsLeavesContests(t *testing.T) {
	f := newFlowLoop(t, func(*v1alpha1.JobFlow, View) Plan[*v1alpha1.JobFlow] { return Plan[*v1alpha1.JobFlow]{Report: true} })
	f.reconciler.external = func(context.Context, *v1alpha1.JobFlow, View) (any, error) { return nil, errors.New("no route") }
	key := contest.Key{Owner: f.get().UID, Child: store.Key{Group: "batch", Kind: "Job", Namespace: "default", Name: "a"}}
	for range 3 {
		f.reconciler.engine.memory.Contests.Corrected(key, "digest",
			[]fieldmanager.Drift{{Path: "spec.parallelism", By: "other"}}, f.reconciler.now())
	}
	_, err := f.pass()
	require.Error(t, err)
	assert.True(t, meta.IsStatusConditionTrue(f.get().Status.Conditions, events.ConditionContested))
	_, reason, _ := f.conditions()
	assert.Equal(t, events.ReasonObservationFailed, reason)
}
