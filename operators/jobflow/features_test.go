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

func TestWhenThatDoesNotCompile(t *testing.T) {
	for text, want := range map[string]string{
		`jobs.a.succeded`:        `flow "b": spec.flows[1].when: Invalid value: "jobs.a.succeded": line 1, column 7: undefined field 'succeded'`,
		`jobs.a.output`:          `line 1, column 1: it is of type string, and must be a bool`,
		`jobs.c.failed`:          `line 1, column 5: jobs has no "c": it isn't among the dependencies`,
		`jobs.a.failed and true`: `line 1, column 15: Syntax error`,
	} {
		plan := planOf(makeFlow(node("a"), nodeWhen(text, "b", "a"), node("c")))
		assert.Empty(t, plan.Children)
		require.Len(t, plan.Events, 1)
		assert.Equal(t, "InvalidSpec", plan.Events[0].Reason)
		assert.Contains(t, condition(plan.Status, "Ready").Message, want)
	}
}

func TestAnOutputIsRecordedAtOnceAndPassedOnAsItIs(t *testing.T) {
	reader := node("reader", "writer")
	reader.Inputs = []v1alpha1.Input{{Env: "IMAGE", From: "writer"}}
	plan := planOf(makeFlow(node("writer"), reader), putOut("writer", "v$(X)1")...)
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, []v1alpha1.FlowOutput{{Name: "writer", Value: "v$(X)1"}}, plan.Status.Status.Outputs)
	assert.Equal(t, "v$$(X)1", envOf(t, plan, 0, "IMAGE"), "no variable is replaced in it")
}

func TestAnOutputThatCannotBePassedOnIsLost(t *testing.T) {
	for output, why := range map[string]string{
		strings.Repeat("x", 4096): "it has 4096 bytes or more, and Kubernetes keeps no more of it",
		"a\x00b":                  "it has a NUL byte, which no environment variable can hold",
	} {
		reader := node("reader", "writer")
		reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
		flow := after(makeFlow(node("writer"), reader), putOut("writer", output)...)
		assert.Equal(t, []v1alpha1.FlowOutput{{Name: "writer", Lost: why}}, flow.Status.Outputs)
		assert.Equal(t, `the output of flow "writer" is lost: `+why, detailOf(flow, "reader").Message)
	}
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
	flow = after(flow, append(objs, runningJob("slow"))...)
	assert.Len(t, flow.Status.Outputs, 4, "of 6 KB each as JSON, in 24 KB; those that no one needs aren't kept")
	flow = after(flow, completeJob("slow"))
	assert.Contains(t, detailOf(flow, "all").Message, `the output of flow "we" is lost: its pods were deleted before it was read`)
}

func TestPodsThatDetermineTheEndAreEnough(t *testing.T) {
	objs := putOut("a", "")
	job, pod := objs[0].(*batchv1.Job), objs[1].(*corev1.Pod)
	job.Status = batchv1.JobStatus{}
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	flow := makeFlow(node("a"), node("b", "a"))
	plan := planOf(flow, objs...)
	assert.Equal(t, []string{"demo-b"}, started(plan))
	assert.Equal(t, v1alpha1.FlowSucceed, states(plan.Status)["a"])
	plan = planOf(plan.Status, job, runningJob("b"))
	assert.Empty(t, plan.Delete)
	assert.Equal(t, v1alpha1.FlowSucceed, states(plan.Status)["a"], "for good")

	flow.Spec.EndOfJob = v1alpha1.EndOfJobCondition
	assert.Empty(t, started(planOf(flow, objs...)), "if the flow asks for the condition")
}

// After a crash the view may be old: b's Job is there, but isn't seen, so failFast skips b, and finally begins. The Job
// that comes to light must not change what finally is told, since its Job may have been created and not be seen yet.
func TestFinallyIsToldTheSameInEachPass(t *testing.T) {
	flow := makeFlow(node("a"), node("b"))
	flow.Spec.FailFast = true
	flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	plan := planOf(flow, failedJob("a"))
	assert.Empty(t, plan.Children, "it is put on record first")
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, lifecycle.Shortly, plan.RequeueAfter)
	flow = plan.Status
	assert.Equal(t, &v1alpha1.FlowsOutcome{State: v1alpha1.StateFailed, Failed: "a"}, flow.Status.Outcome)
	first := planOf(flow, failedJob("a"))
	require.Equal(t, []string{"demo-last"}, started(first))

	plan = planOf(flow, failedJob("a"), runningJob("b"))
	assert.Empty(t, plan.Children, "b has come to light, and is waited for")
	flow = after(plan.Status, failedJob("a"), failedJob("b"))
	again := planOf(flow, failedJob("a"), failedJob("b"))
	require.Equal(t, []string{"demo-last"}, started(again))
	assert.Equal(t, first.Children[0].Object(), again.Children[0].Object())
	flow = after(flow, failedJob("a"), failedJob("b"), completeJob("last"))
	const why = " failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
	assert.Equal(t, "a"+why+"; b"+why, condition(flow, "Failed").Message)

	flow.Spec.Retry = 1
	assert.Nil(t, after(flow).Status.Outcome, "a retry comes to one of its own")
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
	assert.Len(t, planOf(flow).Children, 40)

	flow.Spec.Flows = append(flow.Spec.Flows, node("next", "root0"))
	plan := planOf(flow)
	assert.Len(t, plan.Children, maxStarts, "someone may be waiting")
	assert.Equal(t, time.Millisecond, plan.RequeueAfter)
	var jobs []client.Object
	for _, child := range plan.Children {
		jobs = append(jobs, child.Object().(*batchv1.Job).DeepCopy())
	}
	jobs[0].(*batchv1.Job).Status = completeJob("x").Status
	plan = planOf(plan.Status, jobs...)
	assert.Len(t, plan.Children, maxStarts)
	assert.Equal(t, "demo-next", started(plan)[0])
}
