package buildertest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

// account is a real system outside of the cluster, which nothing can copy.
type account struct{ payments map[string]int }

// pays returns a scenario whose operator makes a payment outside for each owner, and then records it. id returns the payment's id, by
// which the account recognises a repetition.
func (a *account) pays(id func() string) buildertest.Scenario {
	return buildertest.Scenario{
		Outside:  func(context.Context) error { a.payments = map[string]int{}; return nil },
		Objects:  []client.Object{configMap("owner")},
		Requests: []reconcile.Request{request("owner")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				var owner corev1.ConfigMap
				if err := c.Get(ctx, r.NamespacedName, &owner); err != nil || owner.Data["paid"] != "" {
					return reconcile.Result{}, err
				}
				if err := c.Outside("pay", func() error { a.payments[id()] = 1; return nil }); err != nil {
					return reconcile.Result{}, err
				}
				owner.Data = map[string]string{"paid": "yes"}
				return reconcile.Result{}, c.Update(ctx, &owner)
			}), nil
		},
		Then: []buildertest.Edit{func(context.Context, client.Client) error {
			if len(a.payments) != 1 {
				return fmt.Errorf("there are %d payments", len(a.payments))
			}
			return nil
		}},
	}
}

// A crash comes after each change of a real system, too, and each run begins with that system's state at the start.
func TestCrashEverywhereWithARealSystem(t *testing.T) {
	var a account
	buildertest.CrashEverywhere(t, a.pays(func() string { return "owner" }))

	payments := 0
	err := buildertest.CheckCrashes(t.Context(), a.pays(func() string { payments++; return fmt.Sprint(payments) }))
	require.ErrorContains(t, err, "crash after write 1 of 2 (outside: pay): step 1 of Then: there are 2 payments")
	assert.NotContains(t, err.Error(), "crash after write 2", "the payment is recorded")
}

// A crashed process changes nothing outside.
func TestCrashedProcessChangesNothingOutside(t *testing.T) {
	c := buildertest.NewServer(scheme.Scheme).Client("operator")
	c.CrashAfter(1)
	changes := 0
	change := func() error { changes++; return nil }
	require.ErrorContains(t, c.Outside("change", func() error { return fmt.Errorf("refused") }), "refused")
	require.NoError(t, c.Outside("change", change))
	require.ErrorIs(t, c.Outside("change", change), buildertest.ErrCrashed)
	require.ErrorIs(t, c.Create(t.Context(), configMap("a")), buildertest.ErrCrashed)
	assert.Equal(t, 1, changes)
}

// Explore returns to former states, and refuses a system that can't.
func TestExploreRefusesARealSystem(t *testing.T) {
	var a account
	_, err := buildertest.FindCounterexample(t.Context(), a.pays(func() string { return "owner" }), buildertest.Bounds{})
	require.ErrorContains(t, err, "Scenario.Outside")
}
