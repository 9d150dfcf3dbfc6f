package replicajob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// large returns an expression of 1,000 instructions that Go matches fast.
func large(begin string) string { return begin + fmt.Sprintf("a{%d}", 1000-len(begin)) }

// failedWith returns the pods of a job, which have failed with 4 KiB of messages that no two of them share.
func failedWith(job *v1alpha1.ReplicaJob, text func(index int) string) []client.Object {
	i := -1
	return podsOf(job, func(p *corev1.Pod) {
		i++
		end(p, 1, metav1.NewTime(epoch))
		p.Name, p.UID = PodName("demo", "Worker", i), "uid"
		said := text(i) + fmt.Sprint(" ", i)
		p.Status.ContainerStatuses[0].State.Terminated.Message = said + strings.Repeat("-", 4096-len(said))
	})
}

// evaluated runs passes until one decides, and returns the plans' job after each.
func evaluated(t *testing.T, job *v1alpha1.ReplicaJob, pods []client.Object) (jobs []*v1alpha1.ReplicaJob) {
	for range 100 {
		plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...))
		if plan.Status != nil {
			job = plan.Status
		}
		jobs = append(jobs, job)
		if len(plan.Edits) == 0 {
			return jobs
		}
		assert.Empty(t, plan.Children, "an edit would wait for them")
		assert.Empty(t, plan.Delete)
		assert.Positive(t, plan.RequeueAfter)
		for _, e := range plan.Edits {
			index := label(e.After.(*corev1.Pod), LabelIndex)
			require.Equal(t, pods[index], e.Before)
			pods[index] = e.After
		}
	}
	t.Fatal("it doesn't end")
	return nil
}

// One pass matches a bounded amount. Nothing is decided before all failures are evaluated, and then as if that were one pass.
func TestFailuresAreEvaluatedInSeveralPasses(t *testing.T) {
	const mostInPass = maxSteps/(2000*4096) + 1 // of those that no rule matches
	all := []rule{
		{Name: "fatal", Action: v1alpha1.FailureFail, OnMessage: large("fatal")},
		{Name: "again", Action: v1alpha1.FailureRestartJob, OnMessage: large("again")},
	}
	long := strings.Repeat("a", 1000)
	job := func() *v1alpha1.ReplicaJob {
		return makeJob(started, replicas("Worker", 20, restart("OnFailure")), rules(slices.Clone(all)...))
	}
	t.Run("the last failure fails the job", func(t *testing.T) {
		jobs := evaluated(t, job(), failedWith(job(), func(i int) string {
			return map[bool]string{true: "fatal", false: "again"}[i == 19] + long
		}))
		assert.Greater(t, len(jobs), 20/(2*mostInPass))
		assert.Contains(t, condition(jobs[0], "Ready").Message, "20 failed")
		assert.Contains(t, condition(jobs[0], "Ready").Message, "not evaluated yet")
		assert.Contains(t, condition(jobs[len(jobs)-1], "Failed").Message, "Worker 19")
	})
	t.Run("no rule matches", func(t *testing.T) {
		jobs := evaluated(t, job(), failedWith(job(), func(int) string { return "" }))
		last := jobs[len(jobs)-1]
		assert.Len(t, jobs, 20/mostInPass)
		assert.EqualValues(t, 20, last.Status.TotalRestarts)
		assert.Zero(t, jobs[len(jobs)-2].Status.TotalRestarts)
	})
	t.Run("pods that say the same cost once", func(t *testing.T) {
		pods := failedWith(job(), func(int) string { return "" })
		for _, pod := range pods {
			pod.(*corev1.Pod).Status = pods[0].(*corev1.Pod).Status
		}
		assert.Len(t, evaluated(t, job(), pods), 1)
	})
	t.Run("another policy is evaluated again", func(t *testing.T) {
		pods := failedWith(job(), func(int) string { return "" })
		evaluated(t, job(), pods)
		require.NotEmpty(t, pods[0].GetAnnotations()[AnnotationFailureRule])
		other := job()
		other.Spec.FailurePolicy.Rules[0].OnMessage = "^ 0-"
		jobs := evaluated(t, other, pods)
		assert.Contains(t, condition(jobs[len(jobs)-1], "Failed").Message, "Worker 0")
	})
	t.Run("the spec has become invalid", func(t *testing.T) {
		invalid := job()
		spec := invalid.Spec.ReplicaSpecs["Worker"]
		spec.Template.Spec.Containers = nil
		invalid.Spec.ReplicaSpecs["Worker"] = spec
		invalid.Status.ReplicaStatuses = map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Worker": {}}
		jobs := evaluated(t, invalid, failedWith(job(), func(i int) string { return map[bool]string{true: "fatal" + long}[i == 19] }))
		assert.Equal(t, v1alpha1.ReasonInvalidSpec, condition(jobs[0], "Stalled").Reason)
		assert.Contains(t, condition(jobs[len(jobs)-1], "Failed").Message, "Worker 19")
	})
	t.Run("the first failure restarts the job", func(t *testing.T) {
		jobs := evaluated(t, job(), failedWith(job(), func(i int) string { return map[bool]string{true: "again" + long}[i == 0] }))
		last := jobs[len(jobs)-1]
		assert.EqualValues(t, 1, last.Status.Restarts)
		assert.Zero(t, jobs[len(jobs)-2].Status.TotalRestarts)
		assert.Contains(t, condition(last, "Restarting").Message, `Worker 0 failed with exit code 1`)
		assert.Contains(t, condition(last, "Restarting").Message, `rule "again"`)
	})
}

// Nothing is recorded on the pods if their patches are refused, so no pass evaluates all failures.
func TestAJobEndsThoughFailuresAreNotEvaluated(t *testing.T) {
	again := rule{Name: "again", Action: v1alpha1.FailureRestartJob, OnMessage: large("again")}
	job := makeJob(started, replicas("Worker", 20, restart("OnFailure")), rules(again))
	job.Spec.RunPolicy.ActiveDeadlineSeconds = new(int64(60))
	pods := failedWith(job, func(int) string { return "x" })
	after := func(d time.Duration) builder.Plan[*v1alpha1.ReplicaJob] {
		plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch.Add(d), pods...))
		require.NotNil(t, plan.Status)
		return plan
	}
	plan := after(time.Minute)
	require.Contains(t, condition(plan.Status, "Ready").Message, "not evaluated yet")
	require.NotEmpty(t, plan.Edits)
	plan = after(time.Minute + time.Second) // times are to the second
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, condition(plan.Status, "Failed").Reason)
	assert.Empty(t, plan.Edits)

	job.Spec.RunPolicy.Suspend = true
	job = after(0).Status
	plan = ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...))
	assert.Len(t, plan.Delete, 20)
	assert.Empty(t, plan.Edits)
}

// A restart isn't over while further failures are evaluated.
func TestARestartGoesOnWhileFailuresAreEvaluated(t *testing.T) {
	job := makeJob(started, replicas("Worker", 20, restart("OnFailure")), rules(
		rule{Name: "fatal", Action: v1alpha1.FailureFail, OnMessage: large("fatal")},
		rule{Name: "again", Action: v1alpha1.FailureRestartJob, OnMessage: large("again")},
	))
	pods := failedWith(job, func(int) string { return "x" })
	failed := make([]client.Object, len(pods))
	for i, pod := range pods {
		pod.SetLabels(labels.Merge(pod.GetLabels(), labels.Set{LabelRestarts: "7"})) // the next restart waits
		failed[i] = pod.DeepCopyObject().(client.Object)
		if i >= 3 {
			status := &pod.(*corev1.Pod).Status
			status.Phase, status.ContainerStatuses = corev1.PodRunning, nil
		}
	}
	restarting := func(after time.Duration) (bool, []builder.Edit) {
		plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch.Add(after), pods...))
		if plan.Status != nil {
			job = plan.Status
		}
		return meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionRestarting), plan.Edits
	}
	is, _ := restarting(time.Second)
	require.True(t, is)
	copy(pods[3:15], failed[3:15])
	is, edits := restarting(2 * time.Second)
	assert.NotEmpty(t, edits, "they record what is evaluated")
	assert.True(t, is, "%v", job.Status.Conditions)
}

// failedOnServer returns the client of a server on which all pods of a job have failed, and a function that runs a pass and reads the job.
func failedOnServer(t *testing.T, job *v1alpha1.ReplicaJob, text string) (c *buildertest.Client, reconcileOnce func() error) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	server := buildertest.NewServer(scheme, buildertest.WithStatusSubresource(job, &corev1.Pod{}), buildertest.WithObjects(job))
	c = server.Client("test")
	r, err := buildertest.NewReconciler(ReplicaJobs.Operator(nil), c, c.Now)
	require.NoError(t, err)
	reconcileOnce = func() error {
		_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(job)})
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(job), job))
		return err
	}
	require.NoError(t, reconcileOnce())
	require.NoError(t, reconcileOnce())
	pods := &corev1.PodList{}
	require.NoError(t, c.List(t.Context(), pods))
	require.Len(t, pods.Items, 12)
	failed := failedWith(makeJob(replicas("Worker", 12)), func(int) string { return text + strings.Repeat("a", 1000) })
	for i := range pods.Items {
		pods.Items[i].Status = failed[label(&pods.Items[i], LabelIndex)].(*corev1.Pod).Status
		require.NoError(t, c.Status().Update(t.Context(), &pods.Items[i]))
	}
	return c, reconcileOnce
}

// A manager records the rules on pods of an API server, and restarts the job once all are recorded.
func TestReconcilesEvaluateAllFailures(t *testing.T) {
	job := makeJob(replicas("Worker", 12, restart("OnFailure")),
		rules(rule{Action: v1alpha1.FailureFail, OnMessage: large("fatal")}, rule{Action: v1alpha1.FailureRestartJob, OnMessage: large("again")}))
	c, reconcileOnce := failedOnServer(t, job, "again")
	passes := 0
	for ; job.Status.Restarts == 0; passes++ {
		require.Less(t, passes, 10)
		require.NoError(t, reconcileOnce())
	}
	require.Equal(t, 3, passes)
	pods := &corev1.PodList{}
	require.NoError(t, c.List(t.Context(), pods))
	recorded := slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Annotations[AnnotationFailureRule] == "" })
	require.Greater(t, len(recorded), 5)
}

// The deadline ends a job on whose pods nothing can be recorded: a webhook or the role of the operator refuses their patches.
func TestRefusedRecordsDelayNoDeadline(t *testing.T) {
	job := makeJob(replicas("Worker", 12, restart("OnFailure")), rules(rule{Action: v1alpha1.FailureRestartJob, OnMessage: large("again")}))
	job.Spec.RunPolicy.ActiveDeadlineSeconds = new(int64(60))
	c, reconcileOnce := failedOnServer(t, job, "other")
	c.Fail(buildertest.Fault{Verb: buildertest.VerbPatch, Kind: schema.GroupKind{Kind: "Pod"}, Error: buildertest.Forbidden})
	require.Error(t, reconcileOnce())
	require.Equal(t, events.ReasonApplyFailed, condition(job, "Ready").Reason)

	c.Server().Clock().Step(2 * time.Minute)
	require.NoError(t, reconcileOnce())
	require.Equal(t, v1alpha1.ReasonDeadlineExceeded, condition(job, "Failed").Reason)
}
