package fluxjob

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// crashes crashes the operators after each of their writes, with caches that lag by so many changes.
func crashes(t *testing.T, world buildertest.World, objects ...client.Object) {
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			s := scenario(world, objects...)
			s.Lag, s.LagOwnWrites = lag, lag > 1
			buildertest.CrashEverywhere(t, s)
		})
	}
}

func scenario(world buildertest.World, objects ...client.Object) buildertest.Scenario {
	return buildertest.Scenario{
		Scheme: newScheme(), Options: []buildertest.Option{crds},
		Objects: objects, Requests: requests(objects...), World: world, Reconciler: newBoth,
	}
}

// withinQuota fails if more MiniClusters may run than the quota allows.
func withinQuota(t *testing.T, most int, world buildertest.World) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
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
		return world(ctx, c)
	}
}

func TestCrashAfterEachWriteOfThreeJobsOnAQuotaOfTwo(t *testing.T) {
	world := withinQuota(t, 2, miniClusters{ends: succeed}.play)
	crashes(t, world, makeSetup("q", clusters(2)), makeJob("a", 1), makeJob("b", 2), makeJob("c", 3))
}

func TestCrashAfterEachWriteOfAQueueThatNoManagerHas(t *testing.T) {
	setup := makeSetup("q", clusters(1))
	setup.Status.Manager = nil
	buildertest.CrashEverywhere(t, scenario(withinQuota(t, 1, miniClusters{ends: succeed}.play), setup, makeJob("a", 1)))
}

func TestThreeJobsOnAQuotaOfTwoAllRun(t *testing.T) {
	objects := []client.Object{makeSetup("q", clusters(2)), makeJob("a", 1), makeJob("b", 2), makeJob("c", 3)}
	server := buildertest.Settle(t, scenario(withinQuota(t, 2, miniClusters{ends: succeed}.play), objects...))
	for _, o := range objects[1:] {
		job := &v1alpha1.FluxJob{}
		require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKeyFromObject(o), job))
		assert.Equal(t, v1alpha1.FluxJobSucceeded, job.Status.State)
		assert.Equal(t, ptr.To[int32](0), job.Status.ExitCode)
		assert.Equal(t, int32(1), job.Status.Attempts)
		assert.Nil(t, job.Status.Admission)
	}
	setup := &v1alpha1.FluxSetup{}
	require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKey{Name: "q"}, setup))
	assert.Empty(t, setup.Status.Reservations)
	assert.Zero(t, setup.Status.PendingWorkloads)
}

// runningOf returns the names of the MiniClusters that run.
func runningOf(ctx context.Context, c client.Client) (map[string]bool, error) {
	var list v1alpha1.MiniClusterList
	if err := c.List(ctx, &list); err != nil {
		return nil, err
	}
	running := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].Status.State == v1alpha1.MiniClusterStateRunning {
			running[list.Items[i].Name] = true
		}
	}
	return running, nil
}

// once creates an object when a MiniCluster of a name runs.
func once(runs string, obj client.Object) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
		running, err := runningOf(ctx, c)
		if err != nil || !running[runs] {
			return err
		}
		return client.IgnoreAlreadyExists(c.Create(ctx, obj.DeepCopyObject().(client.Object)))
	}
}

// A job of high priority comes when another runs; that one goes on running until it is told to stop.
func TestCrashAfterEachWriteOfAPreemption(t *testing.T) {
	urgent := makeJob("urgent", 9, priority(5))
	urgent.UID = ""
	world := buildertest.InOrder(once("low", urgent), withinQuota(t, 1, miniClusters{ends: func(c *v1alpha1.MiniCluster) *bool {
		if c.Name == "urgent" || c.Generation > 1 { // low ends in its second run
			return new(true)
		}
		return nil
	}}.play))
	setup := makeSetup("q", clusters(1), func(s *v1alpha1.FluxSetupSpec) {
		s.Preemption, s.PriorityLimits = v1alpha1.PreemptionLowerPriority, []v1alpha1.FluxPriorityLimit{{Max: 5}}
	})
	low := makeJob("low", 1)
	for _, lag := range []int{0, 2} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			s := scenario(world, setup, low)
			s.Requests = append(s.Requests, requests(urgent)...)
			s.Lag = lag
			buildertest.CrashEverywhere(t, s)
		})
	}
	s := scenario(world, setup, low)
	s.Requests = append(s.Requests, requests(urgent)...)
	server := buildertest.Settle(t, s)
	for name, runs := range map[string]int32{"low": 2, "urgent": 1} {
		job := &v1alpha1.FluxJob{}
		require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, job))
		assert.Equal(t, v1alpha1.FluxJobSucceeded, job.Status.State, name)
		assert.Equal(t, runs, job.Status.Attempts, name)
	}
}

// The pods of the first run are never ready; after a backoff the second run is.
func TestCrashAfterEachWriteOfAReadinessTimeout(t *testing.T) {
	setup := makeSetup("q", clusters(1), func(s *v1alpha1.FluxSetupSpec) {
		s.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 30, BackoffSeconds: 60, BackoffMaxSeconds: 600}
	})
	world := miniClusters{ends: succeed, starts: func(c *v1alpha1.MiniCluster) bool { return c.Generation > 1 }}.play
	s := scenario(world, setup, makeJob("slow", 1))
	buildertest.CrashEverywhere(t, s)
	server := buildertest.Settle(t, s)
	job := &v1alpha1.FluxJob{}
	require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "slow"}, job))
	assert.Equal(t, v1alpha1.FluxJobSucceeded, job.Status.State)
	assert.Equal(t, v1alpha1.ReasonNotReady, job.Status.LastEviction.Reason)
	assert.Equal(t, int32(2), job.Status.Attempts)
}

// A FluxSetup that is deleted and made again finds what runs, and admits no more than there is room for.
func TestCrashAfterEachWriteOfASetupThatIsReplaced(t *testing.T) {
	play := withinQuota(t, 1, miniClusters{}.play)
	finish := withinQuota(t, 1, miniClusters{ends: succeed}.play)
	world := func(ctx context.Context, c client.Client) error {
		running, err := runningOf(ctx, c)
		setup := &v1alpha1.FluxSetup{}
		if err := errors.Join(err, c.Get(ctx, client.ObjectKey{Name: "q"}, setup)); err != nil {
			return err
		}
		switch {
		case setup.UID != "q-uid":
			return finish(ctx, c)
		case !running["a"]:
			return play(ctx, c)
		}
		again := makeSetup("q", clusters(1))
		again.UID = ""
		return errors.Join(c.Delete(ctx, setup), c.Create(ctx, again))
	}
	buildertest.CrashEverywhere(t, scenario(world, makeSetup("q", clusters(1)), makeJob("a", 1), makeJob("b", 2)))
}

// A job whose MiniCluster is refused gives its share back once; the next one runs, and the first doesn't line up again.
func TestCrashAfterEachWriteOfAMiniClusterThatIsRefused(t *testing.T) {
	world := withinQuota(t, 1, miniClusters{ends: succeed, refuses: func(c *v1alpha1.MiniCluster) bool { return c.Name == "bad" }}.play)
	s := scenario(world, makeSetup("q", clusters(1)), makeJob("bad", 1), makeJob("next", 2))
	buildertest.CrashEverywhere(t, s)
	server := buildertest.Settle(t, s)
	for name, state := range map[string]v1alpha1.FluxJobState{"bad": v1alpha1.FluxJobRequested, "next": v1alpha1.FluxJobSucceeded} {
		job := &v1alpha1.FluxJob{}
		require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, job))
		assert.Equal(t, state, job.Status.State, name)
		assert.Nil(t, job.Status.Admission, name)
		assert.Equal(t, int32(1), job.Status.Attempts, name)
	}
}

// A MiniCluster that someone deletes while it runs is not made again, whatever the moment.
func TestCrashAfterEachWriteOfAMiniClusterThatIsDeleted(t *testing.T) {
	play := miniClusters{}.play
	world := func(ctx context.Context, c client.Client) error {
		job := &v1alpha1.FluxJob{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, job); err != nil {
			return err
		}
		if job.Status.State != v1alpha1.FluxJobRunning {
			return play(ctx, c)
		}
		cluster := &v1alpha1.MiniCluster{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), cluster); err != nil {
			return client.IgnoreNotFound(err)
		}
		cluster.Finalizers = nil
		return errors.Join(c.Update(ctx, cluster), client.IgnoreNotFound(c.Delete(ctx, cluster)),
			client.IgnoreNotFound(c.Delete(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})))
	}
	s := scenario(world, makeSetup("q", clusters(1)), makeJob("a", 1))
	buildertest.CrashEverywhere(t, s)
	server := buildertest.Settle(t, s)
	job := &v1alpha1.FluxJob{}
	require.NoError(t, server.Client("test").Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, job))
	assert.Equal(t, v1alpha1.FluxJobFailed, job.Status.State)
	assert.Equal(t, int32(1), job.Status.Attempts)
	assert.Nil(t, job.Status.Admission)
}
