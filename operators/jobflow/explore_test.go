package jobflow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/internal/refusal"
	"github.com/armature-dev/armature/operators/jobflow"
)

// Two nodes in every order, with a crash at any moment and a stale cache at any moment.
func TestExploreAChain(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/chain.txt", config(t))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: testsize.Pick(0, 1), StaleReads: 1})
	assert.True(t, report.Exhausted)
}

// Four nodes, two of them at the same time, with a crash at any moment and a stale cache at any moment.
func TestExploreADiamond(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/diamond.txt", config(t))
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: 1, StaleReads: 1, Coarse: true, Walks: testsize.Pick(0, 50)})
	assert.True(t, report.Exhausted)
}

// A user suspends the flow, and resumes it, each at any time.
func TestExploreASuspension(t *testing.T) {
	s := story.Scenario(t, "testdata/explore/suspension.txt", config(t))
	s.Normalize = func(obj *unstructured.Unstructured) bool { // whether it was suspended depends on who came first
		unstructured.RemoveNestedField(obj.Object, "status", "activeSince")
		unstructured.RemoveNestedField(obj.Object, "spec", "suspend")
		unstructured.RemoveNestedField(obj.Object, "metadata", "annotations")
		dropCondition(obj, v1alpha1.ConditionSuspended)
		return obj.GetKind() != "Pod"
	}
	report := buildertest.Explore(t, s, buildertest.Bounds{Crashes: testsize.Pick(0, 1), Edits: 2})
	assert.True(t, report.Exhausted)
}

// dropCondition removes a condition.
func dropCondition(obj *unstructured.Unstructured, name string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == name
	})
	if conditions != nil {
		_ = unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions")
	}
}

// oneByOne is the invariant that no two pods of a node run at the same time.
func oneByOne(ctx context.Context, c client.Reader) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	running := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		node := pod.Labels[jobflow.LabelFlow]
		if other := running[node]; other != "" {
			return fmt.Errorf("pods %s and %s of node %s run at the same time", other, pod.Name, node)
		}
		running[node] = pod.Name
	}
	return nil
}

// deleteJob is the command delete-job: it deletes a Job unless that is gone.
func deleteJob(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: story.Namespace, Name: l.Words[0]}}
	return "", client.IgnoreNotFound(s.Client().Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// deletedJob is a flow of which a user deletes the first Job at any time.
func deletedJob(t *testing.T, c story.Config) buildertest.Scenario {
	s := story.Scenario(t, "testdata/explore/deleted_job.txt", c)
	s.Invariants = []buildertest.Invariant{oneByOne}
	s.Normalize = func(obj *unstructured.Unstructured) bool { // how often it ran depends on when the Job was deleted
		state, _, _ := unstructured.NestedString(obj.Object, "status", "state")
		obj.Object["status"] = map[string]any{"state": state}
		return obj.GetKind() == "JobFlow"
	}
	return s
}

// A Job that someone deletes is created again only when its pod has ended.
func TestExploreADeletedJob(t *testing.T) {
	bounds := buildertest.Bounds{Crashes: testsize.Pick(0, 1), StaleReads: testsize.Pick(0, 1), Edits: 1}
	report := buildertest.Explore(t, deletedJob(t, config(t)), bounds)
	assert.True(t, report.Exhausted)
}

// The former operator didn't read the pods of deleted Jobs. This is how Explore finds that, and the story that it writes.
func TestExploreFindsAJobThatIsCreatedBesideItsOldPod(t *testing.T) {
	c := config(t)
	c.Operators = []world.Operator{world.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.JobFlow] {
		return builder.NewOperator[*v1alpha1.JobFlow](mgr, jobflow.Name).
			Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
			Watches(&corev1.Pod{}, builder.Referencing(func(*corev1.Pod) []string { return nil })).
			Watches(&v1alpha1.JobTemplate{}, builder.ReferencedBy(jobflow.TemplateNames)).
			External(refusal.External[*v1alpha1.JobFlow](nil)).
			Plan(jobflow.Plan)
	})}
	_, err := buildertest.FindCounterexample(t.Context(), deletedJob(t, c), buildertest.Bounds{Edits: 1})
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	require.ErrorContains(t, found.Err, "of node a run at the same time")
	t.Log(found)

	file := filepath.Join(t.TempDir(), "found.txt")
	require.NoError(t, os.WriteFile(file, []byte(found.Story), 0o600))
	story.Run(t, file, false, c) // it has its output
	assert.Contains(t, found.Story, "\n----\nmanager: reconcile JobFlow default/demo\ncreate Job demo-a\n")
	require.NoError(t, os.WriteFile(file, []byte(found.Story+"list Pod\n----\n"), 0o600))
	story.Run(t, file, true, c)  // writes its output
	story.Run(t, file, false, c) // and is the same run again
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "list Pod\n----\nPod demo-a-1 n1 Running terminating\nPod demo-a-2 n1 Running\n")
	assert.NotContains(t, string(text), "error:")
}
