package buildertest_test

import (
	"context"
	"errors"
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
	assert.ErrorContains(t, err, "no pass over default/owner is requested, and one a day later makes a change: create ConfigMap default/late")
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

	s.Invariants = []buildertest.Invariant{absent(late)}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, assert.AnError, "it exists at the end")

	w := world.New(newServer(configMap("owner")), world.Options{})
	_, err = w.AddManager("manager", world.Operator{Owner: &corev1.ConfigMap{}, Reconciler: s.Reconciler})
	require.NoError(t, err)
	require.NoError(t, w.Wait(t.Context(), 5*time.Minute))
	assert.True(t, exists(t, w.Server().Client(), late))
}

// polling is a scenario beside whose owner the operator polls another one each second.
func polling(s buildertest.Scenario) buildertest.Scenario {
	operator := s.Reconciler
	s.Objects = append(s.Objects, configMap("poll"))
	s.Requests = append(s.Requests, request("poll"))
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		r, err := operator(c)
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			if req.Name == "poll" {
				return reconcile.Result{RequeueAfter: time.Second}, nil
			}
			return r.Reconcile(ctx, req)
		}), err
	}
	return s
}

// besideAPoll is a scenario beside whose operator another one polls each second.
func besideAPoll(s buildertest.Scenario) buildertest.Scenario {
	poll := polling(by(nil))
	s.Objects = append(s.Objects, configMap("poll"))
	s.Others = []buildertest.Process{{Name: "other", Requests: []reconcile.Request{request("poll")}, Reconciler: poll.Reconciler}}
	return s
}

// The passes of others hide no request that is missing.
func TestExploreFindsAForgottenRequeueBesideAPoll(t *testing.T) {
	for name, beside := range map[string]func(buildertest.Scenario) buildertest.Scenario{"owner": polling, "operator": besideAPoll} {
		t.Run(name, func(t *testing.T) {
			_, err := buildertest.FindCounterexample(t.Context(), beside(waiting(reconcile.Result{})), buildertest.Bounds{})
			require.ErrorIs(t, err, buildertest.ErrNoRest)
			assert.ErrorContains(t, err, "no pass over default/owner is requested")
			buildertest.Explore(t, beside(waiting(reconcile.Result{RequeueAfter: time.Minute})), buildertest.Bounds{Crashes: 1})
		})
	}
}

// A pass that is requested for later than three others begins all the same.
func TestALaterRequestBesideAPoll(t *testing.T) {
	for name, beside := range map[string]func(buildertest.Scenario) buildertest.Scenario{"owner": polling, "operator": besideAPoll} {
		t.Run(name, func(t *testing.T) {
			s := beside(waiting(reconcile.Result{RequeueAfter: time.Minute}))
			late := configMap("late")
			assert.True(t, exists(t, buildertest.Settle(t, s).Client(), late))
			s.Invariants = []buildertest.Invariant{absent(late)}
			_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
			require.ErrorIs(t, err, assert.AnError, "it exists at the end")
		})
	}
}

// absent is an invariant that an object doesn't hold if it exists.
func absent(obj client.Object) buildertest.Invariant {
	return func(ctx context.Context, c client.Reader) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object)); err != nil {
			return client.IgnoreNotFound(err)
		}
		return assert.AnError
	}
}

// An operator that polls observes what the rest of the cluster does later.
func TestAPollingOperatorObservesAJobOfAnHour(t *testing.T) {
	for name, result := range map[string]reconcile.Result{
		"no poll":            {},
		"rate-limited polls": {Requeue: true},
		"a poll each minute": {RequeueAfter: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			after := configMap("after")
			s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
				job := jobOf(owner, "once")
				err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
				if apierrors.IsNotFound(err) {
					return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
				}
				if err != nil || job.Status.Succeeded == 0 {
					return result, err
				}
				return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, owned(after.DeepCopy(), owner)))
			})
			s.Objects = append(s.Objects, world.Node("n1"))
			s.Cluster = world.Cluster(world.Options{Pods: func(*corev1.Pod) world.Script { return world.Script{Ends: true, Run: time.Hour} }})
			assert.True(t, exists(t, buildertest.Settle(t, s).Client(), after))
			s.Invariants = []buildertest.Invariant{absent(after)}
			_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
			require.ErrorIs(t, err, assert.AnError, "it exists at the end")
		})
	}
}

// A pass that fails a day later, and that nothing requests, is a bug of the same kind.
func TestExploreFindsAPassThatFailsADayLater(t *testing.T) {
	failing := func(fails func() error) buildertest.Scenario {
		return by(func(_ context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
			if c.Now().Sub(owner.CreationTimestamp.Time) < time.Minute {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{}, fails()
		})
	}
	_, err := buildertest.FindCounterexample(t.Context(), failing(func() error { panic("late") }), buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrPanic)
	assert.ErrorContains(t, err, "a day later")

	s := failing(func() error { return assert.AnError })
	_, err = buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrStuck)
	require.ErrorIs(t, err, assert.AnError)
	assert.ErrorContains(t, err, "a day later")
	s.Tolerate = func(err error) bool { return errors.Is(err, assert.AnError) }
	buildertest.Explore(t, s, buildertest.Bounds{})
}
