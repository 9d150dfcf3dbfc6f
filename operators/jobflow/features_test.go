package jobflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// nodeWhen returns a node with an expression.
func nodeWhen(text, name string, dependencies ...string) v1alpha1.Flow {
	n := node(name, dependencies...)
	n.When = text
	return n
}

// putOut returns a Job that succeeded, and its pod with a termination message.
func putOut(name, output string) []client.Object {
	job := completeJob(name)
	job.UID = types.UID(job.Name)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: job.Name + "-x",
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox:1.28"}}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: output},
	}}}
	return []client.Object{job, pod}
}

// envOf returns a variable of a plan's n-th Job.
func envOf(t *testing.T, plan builder.Plan[*v1alpha1.JobFlow], n int, name string) string {
	require.Greater(t, len(plan.Children), n)
	for _, v := range plan.Children[n].Object().(*batchv1.Job).Spec.Template.Spec.Containers[0].Env {
		if v.Name == name {
			return v.Value
		}
	}
	t.Errorf("there is no variable %s", name)
	return ""
}

func TestWhenDecidesOnceAllDependenciesHaveEnded(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"),
		nodeWhen(`jobs.a.failed || jobs.b.failed`, "rescue", "a", "b"),
		nodeWhen(`jobs.a.succeeded && jobs.b.succeeded`, "deploy", "a", "b"),
		node("after", "deploy"), nodeWhen(`jobs.deploy.skipped`, "instead", "deploy"))}
	s.step()
	assert.Empty(t, started(s.step(failedJob("a"), runningJob("b"))), "b may yet matter")
	assert.Equal(t, []string{"demo-rescue", "demo-instead"}, started(s.step(failedJob("a"), completeJob("b"))))
	assert.Equal(t, map[string]v1alpha1.FlowState{
		"a": "Failed", "b": "Succeed", "rescue": "Pending", "deploy": "Skipped", "after": "Skipped", "instead": "Pending",
	}, states(s.flow))
	assert.Equal(t, "not started: when is false", detailOf(s.flow, "deploy").Message)
	assert.Equal(t, "not started: deploy is skipped", detailOf(s.flow, "after").Message)
	s.step(completeJob("rescue"), completeJob("instead"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State, "a failure that was dealt with is a failure")
	assert.Equal(t, "a failed: BackoffLimitExceeded: Job has reached the specified backoff limit", condition(s.flow, "Failed").Message)
}

func TestWhenSkipsAndTheFlowSucceeds(t *testing.T) {
	s := &stepper{flow: makeFlow(node("pick"),
		nodeWhen(`jobs.pick.output == "gpu"`, "on-gpu", "pick"), nodeWhen(`jobs.pick.output != "gpu"`, "on-cpu", "pick"))}
	s.step()
	assert.Equal(t, []string{"demo-on-cpu"}, started(s.step(putOut("pick", "cpu")...)))
	s.step(completeJob("on-cpu"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.Equal(t, "2 flows succeeded, 1 were skipped", condition(s.flow, "Succeeded").Message)
	assert.Equal(t, "3/3", s.flow.Status.Progress)
	assert.EqualValues(t, "0-2", s.flow.Status.Finished)
	assert.EqualValues(t, "1", s.flow.Status.Skipped)
}

func TestWhenThatDoesNotCompile(t *testing.T) {
	for text, want := range map[string]string{
		`jobs.a.succeded`:        `flow "b": spec.flows[1].when: Invalid value: "jobs.a.succeded": line 1, column 7: undefined field 'succeded'`,
		`jobs.a.output`:          `line 1, column 1: it is of type string, and must be a bool`,
		`jobs.c.failed`:          `line 1, column 5: jobs has no "c": it isn't among the dependencies`,
		`jobs.a.failed and true`: `line 1, column 15: Syntax error`,
	} {
		s := &stepper{flow: makeFlow(node("a"), nodeWhen(text, "b", "a"), node("c"))}
		plan := s.step()
		assert.Empty(t, plan.Children)
		assert.Equal(t, []string{"InvalidSpec"}, reasons(plan.Events))
		assert.Contains(t, condition(s.flow, "Ready").Message, want)
	}
}

func TestWhenThatCannotBeEvaluatedFails(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), nodeWhen(`int(jobs.a.output) > 3`, "b", "a"))}
	s.step()
	plan := s.step(putOut("a", "many")...)
	assert.Equal(t, []string{"JobFailed", "Failed"}, reasons(plan.Events))
	assert.Equal(t, "b failed: when: type conversion error from 'string' to 'int'", plan.Events[0].Note)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
}

func TestOutputsReachTheirReaders(t *testing.T) {
	reader := node("reader", "writer", "slow")
	reader.Inputs = []v1alpha1.Input{{Env: "IMAGE", From: "writer"}}
	reader.JobTemplate.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "REF", Value: "repo/$(IMAGE)"}}
	s := &stepper{flow: makeFlow(node("writer"), node("slow"), reader)}
	s.flow.Spec.GlobalParams.Env = []corev1.EnvVar{{Name: "IMAGE", Value: "global"}}
	s.step()
	plan := s.step(append(putOut("writer", "v$(X)1"), runningJob("slow"))...)
	assert.Zero(t, plan.StatusCanWait, "an output is put on record at once")
	assert.Equal(t, []v1alpha1.FlowOutput{{Name: "writer", Value: "v$(X)1"}}, s.flow.Status.Outputs)
	plan = s.step(completeJob("slow")) // the writer's Job is gone
	assert.Equal(t, []string{"demo-reader"}, started(plan))
	assert.Equal(t, "v$$(X)1", envOf(t, plan, 0, "IMAGE"), "no variable is replaced in it")
	assert.Equal(t, "repo/$(IMAGE)", envOf(t, plan, 0, "REF"))
	s.step(runningJob("reader"))
	assert.NotEmpty(t, s.flow.Status.Outputs, "a retry may need it")
	s.step(completeJob("reader"))
	assert.Empty(t, s.flow.Status.Outputs)
}

func TestAnOutputIsWaitedFor(t *testing.T) {
	reader := node("reader", "writer")
	reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	s := &stepper{flow: makeFlow(node("writer"), reader)}
	s.step()
	job := putOut("writer", "late")[0]
	end := at(18)
	job.(*batchv1.Job).Status.CompletionTime = &end
	plan := s.step(job) // at 20; its pod hasn't been seen yet
	assert.Empty(t, plan.Children)
	assert.Equal(t, 58*time.Second, plan.RequeueAfter)
	assert.Equal(t, v1alpha1.FlowRunning, states(s.flow)["writer"])
	s.seconds += 50
	plan = s.step(job)
	assert.Empty(t, plan.Children)
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["writer"])
	assert.Contains(t, detailOf(s.flow, "reader").Message, `the output of flow "writer" is lost: its pods were deleted before it was read`)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
}

func TestAnOutputThatCannotBePassedOnIsLost(t *testing.T) {
	for output, why := range map[string]string{
		strings.Repeat("x", 4096): "it has 4096 bytes or more, and Kubernetes keeps no more of it",
		"a\x00b":                  "it has a NUL byte, which no environment variable can hold",
	} {
		reader := node("reader", "writer")
		reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
		s := &stepper{flow: makeFlow(node("writer"), reader)}
		s.step()
		s.step(putOut("writer", output)...)
		assert.Equal(t, []v1alpha1.FlowOutput{{Name: "writer", Lost: why}}, s.flow.Status.Outputs)
		assert.Equal(t, `the output of flow "writer" is lost: `+why, detailOf(s.flow, "reader").Message)
	}
}

func TestARetryRunsAgainWhatLostItsOutput(t *testing.T) {
	reader := node("reader", "writer")
	reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	s := &stepper{flow: makeFlow(node("writer"), node("other"), reader)}
	s.step()
	s.seconds = 100 // the manager was down while writer ended, and its pod went
	s.step(putOut("writer", "gone")[0], completeJob("other"))
	assert.Equal(t, v1alpha1.FlowFailed, states(s.flow)["reader"])
	assert.Equal(t, "its pods were deleted before it was read", s.flow.Status.Outputs[0].Lost)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Equal(t, []string{"demo-writer-r1"}, started(s.step()), "what succeeded otherwise isn't run again")
	objs := putOut("writer-r1", "here")
	objs[0].SetLabels(map[string]string{LabelFlow: "writer", LabelRetry: "1"})
	plan := s.step(objs...)
	assert.Equal(t, []string{"demo-reader-r1"}, started(plan))
	assert.Equal(t, "here", envOf(t, plan, 0, "X"))
}

// That another node succeeded after it doesn't say that it has run again.
func TestARetryRunsAgainWhatLostItsOutputAlsoIfOthersSucceededAfterIt(t *testing.T) {
	reader := node("reader", "writer")
	reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	s := &stepper{flow: makeFlow(node("writer"), node("after", "writer"), reader)}
	s.step()
	s.seconds = 100
	after := jobsOf(s.step(putOut("writer", "gone")[0]), completeJob)
	s.step(append(after, completeJob("writer"))...)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Equal(t, []string{"demo-writer-r1"}, started(s.step()))
	assert.Equal(t, map[string]v1alpha1.FlowState{"writer": "Pending", "after": "Succeed", "reader": "Pending"}, states(s.flow))
}

func TestARetryHasTheOutputsThatFinallyNeeds(t *testing.T) {
	last := node("last")
	last.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	s := &stepper{flow: makeFlow(node("writer"), node("bad"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{last}
	s.step()
	s.step(append(putOut("writer", "kept"), failedJob("bad"))...)
	s.step()
	s.step(completeJob("last"))
	require.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Equal(t, []string{"demo-bad-r1"}, started(s.step()))
	assert.Equal(t, []v1alpha1.FlowOutput{{Name: "writer", Value: "kept"}}, s.flow.Status.Outputs)
}

func TestOutputsAreBounded(t *testing.T) {
	flow := makeFlow()
	var objs []client.Object
	for i := range 30 {
		name := "w" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		flow.Spec.Flows = append(flow.Spec.Flows, node(name))
		objs = append(objs, putOut(name, strings.Repeat("<", 1000))...)
	}
	all := node("all", "wa", "wb", "wc", "wd", "we")
	for i, d := range append(all.Dependencies, "wf") {
		all.Inputs = append(all.Inputs, v1alpha1.Input{Env: "V" + string(rune('0'+i)), From: d})
	}
	all.Dependencies = append(all.Dependencies, "wf", "slow")
	flow.Spec.Flows = append(flow.Spec.Flows, all, node("slow"))
	s := &stepper{flow: flow}
	s.step()
	s.step(append(objs, runningJob("slow"))...)
	assert.Len(t, s.flow.Status.Outputs, 4, "of 6 KB each as JSON, in 24 KB; those that no one needs aren't kept")
	s.step(completeJob("slow"))
	assert.Contains(t, detailOf(s.flow, "all").Message, `the output of flow "we" is lost: its pods were deleted before it was read`)
}

func TestPodsThatDetermineTheEndAreEnough(t *testing.T) {
	objs := putOut("a", "")
	job, pod := objs[0].(*batchv1.Job), objs[1].(*corev1.Pod)
	job.Status = batchv1.JobStatus{}
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.step()
	assert.Equal(t, []string{"demo-b"}, started(s.step(objs...)))
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["a"])
	assert.Empty(t, s.step(job, runningJob("b")).Delete)
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["a"], "for good")

	s = &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	s.flow.Spec.EndOfJob = v1alpha1.EndOfJobCondition
	s.step()
	assert.Empty(t, started(s.step(objs...)), "if the flow asks for the condition")
}

func TestFinallyRunsWhateverHappened(t *testing.T) {
	notify := node("notify")
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "a"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{notify, nodeWhen(`state == "Succeed"`, "publish"), nodeWhen(`jobs.a.failed && jobs.c.skipped`, "mourn")}
	s.step()
	assert.Empty(t, started(s.step(failedJob("a"), runningJob("b"))), "b runs")
	plan := s.step(failedJob("a"), completeJob("b"))
	assert.Empty(t, plan.Children, "what it is told is put on record first")
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, lifecycle.Shortly, plan.RequeueAfter)
	plan = s.step(failedJob("a"), completeJob("b"))
	assert.Equal(t, []string{"demo-notify", "demo-mourn"}, started(plan))
	assert.Equal(t, "Failed", envOf(t, plan, 0, "FLOW_STATUS"))
	assert.Equal(t, "a", envOf(t, plan, 0, "FLOW_FAILED"))
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State)
	assert.Equal(t, v1alpha1.FlowSkipped, states(s.flow)["publish"])
	s.step(completeJob("notify"), completeJob("mourn"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "6/6", s.flow.Status.Progress)
}

// After a crash the view may be old: b's Job is there, but isn't seen, so failFast skips b, and finally begins. The Job
// that comes to light must not change what finally is told, since its Job may have been created and not be seen yet.
func TestFinallyIsToldTheSameInEachPass(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"))}
	s.flow.Spec.FailFast = true
	s.flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	s.step()
	plan := s.step(failedJob("a"))
	assert.Empty(t, plan.Children, "it is put on record first")
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, &v1alpha1.FlowsOutcome{State: v1alpha1.StateFailed, Failed: "a"}, s.flow.Status.Outcome)
	first := s.step(failedJob("a"))
	require.Equal(t, []string{"demo-last"}, started(first))

	assert.Empty(t, s.step(failedJob("a"), runningJob("b")).Children, "b has come to light, and is waited for")
	s.step(failedJob("a"), failedJob("b"))
	again := s.step(failedJob("a"), failedJob("b"))
	require.Equal(t, []string{"demo-last"}, started(again))
	assert.Equal(t, first.Children[0].Object(), again.Children[0].Object())
	s.step(failedJob("a"), failedJob("b"), completeJob("last"))
	assert.Equal(t, "a failed: BackoffLimitExceeded: Job has reached the specified backoff limit; b failed: BackoffLimitExceeded: Job has reached the specified backoff limit",
		condition(s.flow, "Failed").Message)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	s.step()
	assert.Nil(t, s.flow.Status.Outcome, "a retry comes to one of its own")
}

func TestFinallyThatFails(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{node("notify")}
	s.step()
	s.step(completeJob("a"))
	plan := s.step(completeJob("a"))
	assert.Equal(t, "Succeed", envOf(t, plan, 0, "FLOW_STATUS"))
	assert.Empty(t, envOf(t, plan, 0, "FLOW_FAILED"))
	s.step(completeJob("a"), failedJob("notify"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
}

func TestFailFast(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "b"), node("d", "c"))}
	s.flow.Spec.FailFast = true
	s.flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	s.step()
	assert.Empty(t, started(s.step(failedJob("a"), runningJob("b"))))
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Failed", "b": "Running", "c": "Skipped", "d": "Skipped", "last": "Pending"}, states(s.flow))
	assert.Equal(t, "not started: a failed, and failFast is set", detailOf(s.flow, "d").Message)
	s.step(failedJob("a"), completeJob("b"))
	assert.Equal(t, []string{"demo-last"}, started(s.step(failedJob("a"), completeJob("b"))))
}

func TestParallelism(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c"), node("d", "a"))}
	s.flow.Spec.Parallelism = ptr.To[int32](2)
	assert.Equal(t, []string{"demo-a", "demo-b"}, started(s.step()))
	assert.Empty(t, started(s.step(runningJob("a"), runningJob("b"))))
	assert.Equal(t, []string{"demo-c"}, started(s.step(runningJob("a"), completeJob("b"))))
	assert.Equal(t, []string{"demo-d"}, started(s.step(completeJob("a"), completeJob("b"), runningJob("c"))))
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Parallelism = nil })
	s.step(completeJob("c"), completeJob("d"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
}

func TestWhatOthersManageIsLeftAlone(t *testing.T) {
	flow := makeFlow(node("a"))
	flow.Spec.ManagedBy = new("example.com/other")
	assert.Zero(t, Plan(flow, buildertest.NewView(epoch)))
	flow.DeletionTimestamp = &metav1.Time{Time: epoch}
	assert.Zero(t, Plan(flow, buildertest.NewView(epoch)))
}

// detailOf returns what a flow's status says of a node.
func detailOf(flow *v1alpha1.JobFlow, name string) v1alpha1.FlowStatus {
	for _, s := range flow.Status.Flows {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.FlowStatus{}
}

func TestSuccessorsGoFirst(t *testing.T) {
	flow := makeFlow()
	for i := range 40 {
		flow.Spec.Flows = append(flow.Spec.Flows, node(fmt.Sprint("root", i)))
	}
	s := &stepper{flow: flow}
	assert.Len(t, s.step().Children, 40)

	flow.Spec.Flows = append(flow.Spec.Flows, node("next", "root0"))
	s = &stepper{flow: flow}
	plan := s.step()
	assert.Len(t, plan.Children, maxStarts, "someone may be waiting")
	assert.Equal(t, time.Millisecond, plan.RequeueAfter)
	jobs := jobsOf(plan, runningJob)
	jobs[0].(*batchv1.Job).Status = completeJob("x").Status
	plan = s.step(jobs...)
	assert.Len(t, plan.Children, maxStarts)
	assert.Equal(t, "demo-next", started(plan)[0])
}
