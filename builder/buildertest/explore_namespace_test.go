package buildertest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

// A deleted namespace refuses objects, and one that never existed doesn't. So they are two states, though neither is there.
func TestExploreDistinguishesADeletedNamespace(t *testing.T) {
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		switch {
		case owner.Data["seen"] == "":
			owner.Data["seen"] = "yes"
			return reconcile.Result{}, c.Update(ctx, owner)
		case owner.Data["edited"] == "":
			return reconcile.Result{}, nil
		}
		probe := configMap("probe")
		probe.Namespace = other.Name
		return reconcile.Result{}, c.Create(ctx, probe, client.DryRunAll)
	})
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
		owner := configMap("owner")
		if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
			return err
		}
		if owner.Data["seen"] == "" {
			if err := c.Create(ctx, other.DeepCopy()); err != nil {
				return err
			}
			if err := c.Delete(ctx, other.DeepCopy()); err != nil {
				return err
			}
		}
		owner.Data["edited"] = "yes"
		return c.Update(ctx, owner)
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{Edits: 1})
	require.ErrorIs(t, err, buildertest.ErrStuck)
	require.ErrorContains(t, err, `namespaces "other" not found`)
}
