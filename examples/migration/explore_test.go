package migration

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
)

// tally counts the migrations that have run.
var tally = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tally"}, Data: map[string]string{"runs": "0"}}

// migrate is a World that runs each Job to its end once, and counts that.
func migrate(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	count := tally.DeepCopy()
	if err := errors.Join(c.List(ctx, &jobs), c.Get(ctx, client.ObjectKeyFromObject(tally), count)); err != nil {
		return err
	}
	for i := range jobs.Items {
		if len(jobs.Items[i].Status.Conditions) > 0 {
			continue
		}
		n, err := strconv.Atoi(count.Data["runs"])
		if err != nil {
			return err
		}
		count.Data["runs"] = strconv.Itoa(n + 1)
		return errors.Join(c.Update(ctx, count), buildertest.CompleteJobs(ctx, c))
	}
	return nil
}

// once is the invariant that the migration has run once at most.
func once(ctx context.Context, c client.Reader) error {
	count := tally.DeepCopy()
	if err := c.Get(ctx, client.ObjectKeyFromObject(tally), count); err != nil {
		return err
	}
	if runs := count.Data["runs"]; runs != "0" && runs != "1" {
		return fmt.Errorf("the migration has run %s times", runs)
	}
	return nil
}

// explored is the recipe, with an operator that has a plan.
func explored(plan builder.PlanFunc[*corev1.ConfigMap]) buildertest.Scenario {
	s := scenario()
	s.Objects = append(s.Objects, tally)
	s.World = buildertest.InOrder(migrate, expire, buildertest.RollOut)
	s.Invariants = []buildertest.Invariant{once}
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(Operator(nil).Plan(plan), c, c.Now)
	}
	return s
}

// The migration runs once, whatever happens: a crash, a stale cache, a Job that expires, a new image at any time.
func TestExploreTheRecipe(t *testing.T) {
	s := explored(Plan)
	s.Then = []buildertest.World{buildertest.Change(s.Objects[0].(*corev1.ConfigMap), func(shop *corev1.ConfigMap) {
		shop.Data["image"] = "example.com/shop:v1.1"
	})}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // without a revision of the first image, if that never came
		return obj.GetKind() != "ControllerRevision"
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 1, WholeWorld: true})
	assert.True(t, report.Exhausted)
}

// Without RunOnce nothing records that the migration has run, so it runs again when its Job is gone. This is how Explore finds that.
func TestExploreFindsAMigrationThatRunsTwice(t *testing.T) {
	s := explored(func(owner *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
		plan := Plan(owner, view)
		job := plan.Children[1].Object().(*batchv1.Job).DeepCopy()
		job.Spec.TTLSecondsAfterFinished = nil // the builder refuses it beside InPhase
		plan.Children[1] = builder.Want(job, builder.InPhase("migrate"))
		return plan
	})
	s.Then = []buildertest.World{func(ctx context.Context, c client.Client) error {
		return client.IgnoreNotFound(c.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace("default"),
			client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{WholeWorld: true, Edits: 1})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	assert.EqualError(t, found.Err, "the migration has run 2 times")
	t.Log(found)
}
