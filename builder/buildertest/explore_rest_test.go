package buildertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// once runs a Job, records in the owner that it is done, and deletes the Job. It believes the cache that the owner isn't done.
func once() buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if owner.Data["phase"] == "done" {
			return reconcile.Result{}, nil
		}
		job := jobOf(owner, "once")
		err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
		}
		if err != nil || job.Status.Succeeded == 0 {
			return reconcile.Result{}, err
		}
		owner.Data["phase"] = "done"
		if err := c.Update(ctx, owner); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	})
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	s.LagOwnWrites = true
	return s
}

// deletesByName deletes a ConfigMap of the owner by its name when a user disables it. The user creates one of that name.
func deletesByName() buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		note := configMap("note")
		err := c.Get(ctx, client.ObjectKeyFromObject(note), note)
		switch {
		case owner.Data["disabled"] == "" && apierrors.IsNotFound(err):
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, owned(configMap("note"), owner)))
		case owner.Data["disabled"] != "" && err == nil && metav1.IsControlledBy(note, owner):
			return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, note))
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	})
	s.Then = []buildertest.Edit{
		buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data["disabled"] = "yes" }),
		func(ctx context.Context, c client.Client) error {
			if err := client.IgnoreNotFound(c.Delete(ctx, configMap("note"))); err != nil {
				return err
			}
			return c.Create(ctx, configMap("note"))
		},
	}
	return s
}

// Where a pass that reads the present state would write nothing, and nothing else can happen, one that reads an older state may write.
func TestExploreAStaleReadAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		scenario buildertest.Scenario
		bounds   buildertest.Bounds
		want     error
	}{
		"creates again what is done":    {once(), buildertest.Bounds{StaleReads: 1, Lag: 6, Coarse: true}, buildertest.ErrCreatedTwice},
		"deletes the object of another": {deletesByName(), buildertest.Bounds{StaleReads: 1, Lag: 3, Edits: 2}, buildertest.ErrNotOwned},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := buildertest.FindCounterexample(t.Context(), c.scenario, c.bounds)
			require.ErrorIs(t, err, c.want)
			t.Log(err)
			assert.EqualError(t, buildertest.Replay(t.Context(), c.scenario, c.bounds, err.Error()), err.Error())
		})
	}
}

// atDeadline records at its deadline whether its Job has succeeded, an hour after the pass that observes the success writes nothing.
func atDeadline() buildertest.Scenario {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if owner.Data["result"] != "" {
			return reconcile.Result{}, nil
		}
		job := jobOf(owner, "once")
		err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		if left := job.CreationTimestamp.Add(time.Hour).Sub(c.Now()); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		owner.Data["result"] = "TimedOut"
		if job.Status.Succeeded > 0 {
			owner.Data["result"] = "Succeeded"
		}
		return reconcile.Result{}, c.Update(ctx, owner)
	})
	s.Objects = append(s.Objects, world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	return s
}

// A pass that writes nothing reads the present state too, before time passes: the cache shows no older one afterwards.
func TestExploreReadsNoOlderStateThanAPassThatWroteNothing(t *testing.T) {
	for _, keep := range []bool{false, true} {
		buildertest.Explore(t, atDeadline(), buildertest.Bounds{StaleReads: 1, Lag: 6, Coarse: true, KeepMemory: keep})
	}
}
