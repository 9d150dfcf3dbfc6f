package migration

import (
	"context"
	"fmt"
	"maps"
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
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
)

// tally has the UIDs of the pods that have run the migration.
var tally = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tally"}}

// count is a controller that adds pods to the tally.
func count(s *world.State) []world.Change {
	var all *corev1.ConfigMap
	for _, found := range world.All[*corev1.ConfigMap](s) {
		if found.Name == tally.Name {
			all = found
		}
	}
	for _, pod := range world.All[*corev1.Pod](s) {
		if _, known := all.Data[string(pod.UID)]; known || pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		next := all.DeepCopy()
		next.Data = maps.Clone(all.Data)
		if next.Data == nil {
			next.Data = map[string]string{}
		}
		next.Data[string(pod.UID)] = pod.Name
		return []world.Change{{Verb: world.VerbUpdate, Object: next}}
	}
	return nil
}

// once is the invariant that the migration has run once at most.
func once(ctx context.Context, c client.Reader) error {
	all := tally.DeepCopy()
	if err := c.Get(ctx, client.ObjectKeyFromObject(tally), all); err != nil {
		return err
	}
	if runs := len(all.Data); runs > 1 {
		return fmt.Errorf("the migration has run %d times", runs)
	}
	return nil
}

// explored is the recipe, with an operator that has a plan.
func explored(plan builder.PlanFunc[*corev1.ConfigMap]) buildertest.Scenario {
	s := scenario()
	s.Objects = append(s.Objects, tally)
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed, Controllers: []world.Controller{world.Func("tally", count)}})
	s.Invariants = []buildertest.Invariant{once}
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(Operator(nil).Plan(plan), c, c.Now)
	}
	return s
}

// The migration runs once, whatever happens: a crash, a stale cache, a Job that expires, a new image at any time.
func TestExploreTheRecipe(t *testing.T) {
	s := explored(Plan)
	s.Then = []buildertest.Edit{buildertest.Change(s.Objects[0].(*corev1.ConfigMap), func(shop *corev1.ConfigMap) {
		shop.Data["image"] = "example.com/shop:v1.1"
	})}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // without a revision of the first image, if that never came
		return obj.GetKind() != "ControllerRevision" && obj.GetName() != tally.Name
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: testsize.Pick(0, 1), Edits: 1, WholeWorkloads: true})
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
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
		return client.IgnoreNotFound(c.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace("default"),
			client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{Coarse: true, Edits: 1})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	assert.EqualError(t, found.Err, "the migration has run 2 times")
	t.Log(found)
}
