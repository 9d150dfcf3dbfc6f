package fluxjob

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// explored is a queue with jobs, in which everything may happen in any order. No more MiniClusters may run than the quota allows.
func explored(most int, world buildertest.World, setup *v1alpha1.FluxSetup, jobs ...client.Object) buildertest.Scenario {
	return buildertest.Scenario{
		Scheme: newScheme(), Options: []buildertest.Option{crds},
		Objects: append([]client.Object{setup}, jobs...), World: world,
		Requests: requests(jobs...),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil, admission.Manager{}), c, c.Now)
		},
		Others: []buildertest.Process{{
			Name: "admission", Requests: requests(setup),
			Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
				return buildertest.NewReconciler(admission.Operator(nil, admission.Manager{}), c, c.Now)
			},
		}},
		Invariants: []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
			var list v1alpha1.MiniClusterList
			if err := c.List(ctx, &list); err != nil {
				return err
			}
			running := 0
			for i := range list.Items {
				if cluster := &list.Items[i]; !cluster.Spec.Suspend && !isOver(cluster) {
					running++
				}
			}
			if running > most {
				return fmt.Errorf("%d MiniClusters run on a quota of %d", running, most)
			}
			return nil
		}},
	}
}

// Two jobs on a quota of one.
func TestExploreTwoJobsOnAQuotaOfOne(t *testing.T) {
	s := explored(1, miniClusters{ends: succeed}.play, makeSetup("q", clusters(1)), makeJob("a", 1), makeJob("b", 2))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), WholeWorld: true})
	assert.True(t, report.Exhausted)
}
