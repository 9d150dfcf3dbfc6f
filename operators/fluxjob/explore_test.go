package fluxjob

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// atMost is the invariant that no more MiniClusters run than the quota allows.
func atMost(n int) buildertest.Invariant {
	return func(ctx context.Context, c client.Reader) error {
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
		if running > n {
			return fmt.Errorf("%d MiniClusters run on a quota of %d", running, n)
		}
		return nil
	}
}

// Two jobs on a quota of one.
func TestExploreTwoJobsOnAQuotaOfOne(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/quota.txt", config(ofJobs(admission.Manager{}), ofQueues(admission.Manager{}), ofClusters()))
	s.Invariants = []buildertest.Invariant{atMost(1)}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Coarse: true})
	assert.True(t, report.Exhausted)
}
