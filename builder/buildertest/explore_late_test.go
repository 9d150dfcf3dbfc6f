package buildertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// late is an operator with a bug after some crashes between two writes. An edit while its Job runs makes it call onEdit. The exploration
// tries that before a crash, and a replay of the crash, with the edit at the end, doesn't.
func late(crashes int, onEdit func(ctx context.Context, c *buildertest.Client) error, objects ...client.Object) buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		job := jobOf(owner, "owner-1")
		err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
		switch {
		case apierrors.IsNotFound(err):
			err = c.Create(ctx, job)
		case err == nil && owner.Data["state"] == "":
			owner.Data["crashes"] += "."
			err = c.Update(ctx, owner)
		case err == nil && owner.Data["edited"] != "" && job.Status.Succeeded == 0:
			return reconcile.Result{}, onEdit(ctx, c)
		default:
			return reconcile.Result{}, err
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		owner.Data["state"] = "created"
		if len(owner.Data["crashes"]) >= crashes {
			owner.Data["state"] = "after crashes"
		}
		return reconcile.Result{}, c.Update(ctx, owner)
	})
	s.Objects = append(append(s.Objects, world.Node("n1")), objects...)
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	s.Then = []buildertest.Edit{buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data["edited"] = "yes" })}
	s.Normalize = func(obj *unstructured.Unstructured) bool {
		unstructured.RemoveNestedField(obj.Object, "data", "crashes")
		return obj.GetKind() == "ConfigMap"
	}
	return s
}

func readsPods(ctx context.Context, c *buildertest.Client) error {
	return c.List(ctx, &corev1.PodList{})
}

// readsPodsAndFails has a bug of its own.
func readsPodsAndFails(ctx context.Context, c *buildertest.Client) error {
	owner := configMap("owner")
	err := errors.Join(readsPods(ctx, c), c.Get(ctx, client.ObjectKeyFromObject(owner), owner))
	if err != nil || owner.Data["state"] == "bad" {
		return err
	}
	owner.Data["state"] = "bad"
	return c.Update(ctx, owner)
}

// createsWorkload creates a ReplicaSet without pods; one that it would have is larger than the quota.
func createsWorkload(ctx context.Context, c *buildertest.Client) error {
	large := aReplicaSet()
	large.Spec.Replicas = new(int32(0))
	large.Spec.Template.Spec.Containers[0].Resources.Requests = amounts("nvidia.com/gpu", "9")
	if err := c.Get(ctx, client.ObjectKeyFromObject(large), large); !apierrors.IsNotFound(err) {
		return err
	}
	return c.Create(ctx, large)
}

// createsQuota creates a quota of one pod.
func createsQuota(ctx context.Context, c *buildertest.Client) error {
	quota := quotaOf("late", "pods", "1")
	if err := c.Get(ctx, client.ObjectKeyFromObject(quota), quota); !apierrors.IsNotFound(err) {
		return err
	}
	return c.Create(ctx, quota)
}

func TestReplayKnowsWhatTheExplorationLearnedLate(t *testing.T) {
	small := deployment("web", "i")
	small.Spec.Template.Spec.Containers[0].Resources.Requests = amounts("nvidia.com/gpu", "1")
	for name, tt := range map[string]struct {
		scenario buildertest.Scenario
		bounds   buildertest.Bounds
		header   string
	}{
		"a kind":                        {late(1, readsPods), buildertest.Bounds{Crashes: 1, Edits: 1}, "given that operators also read Pod:\n  1. "},
		"a kind, in the run that fails": {late(9, readsPodsAndFails), buildertest.Bounds{Edits: 1}, "given that operators also read Pod:\n  1. "},
		"a quota": {late(1, createsWorkload, small, quotaOf("gpus", "requests.nvidia.com/gpu", "5")), buildertest.Bounds{Crashes: 1, Edits: 1},
			"given that operators also read ReplicaSet.apps:\ngiven that pods compete for the quotas of default:\n  1. "},
		"a quota that only other runs have": {late(1, createsQuota, deployment("web", "i")), buildertest.Bounds{Crashes: 1, Edits: 1},
			"given that operators also read ResourceQuota:\ngiven that pods compete for the quotas of default:\n  1. "},
		"a kind, in a walk": {late(2, readsPods), buildertest.Bounds{Crashes: 1, Edits: 1, Walks: 50},
			"KeepMemory: true:\ngiven that operators also read Pod:\n  1. "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := buildertest.FindCounterexample(t.Context(), tt.scenario, tt.bounds)
			require.ErrorIs(t, err, buildertest.ErrOtherEnd)
			t.Log(err)
			assert.EqualError(t, buildertest.Replay(t.Context(), tt.scenario, tt.bounds, err.Error()), err.Error())
			assert.ErrorContains(t, err, tt.header)
		})
	}
}
