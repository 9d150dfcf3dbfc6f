package jobflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestExampleRunsInDependencyOrder(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "example.yaml")
	flow := p.waitState("jobflow-example", v1alpha1.StateSucceed)

	pods := p.pods("jobflow-example")
	require.Len(t, pods, 5)
	for _, node := range flow.Spec.Flows {
		pod := pods[node.Name]
		ran := pod.Status.ContainerStatuses[0].State.Terminated
		require.NotNil(t, ran, node.Name)
		for _, dependency := range node.Dependencies {
			other := pods[dependency].Status.ContainerStatuses[0].State.Terminated
			assert.False(t, ran.StartedAt.Before(&other.FinishedAt), "%s started at %s, before %s ended at %s", node.Name, ran.StartedAt, dependency, other.FinishedAt)
		}
		assert.Equal(t, "minikube", pod.Spec.NodeName)
		assert.Equal(t, corev1.RestartPolicyNever, pod.Spec.RestartPolicy)
		for _, key := range []string{"key1", "key2"} {
			assert.Equal(t, strings.Replace(key, "key", "value", 1), pod.Labels[key])
			assert.Equal(t, strings.Replace(key, "key", "value", 1), pod.Annotations[key])
		}
		assert.Equal(t, node.Name+" FOO=bar QUE=pasa", p.Logs("job/jobflow-example-"+node.Name))
	}
	p.OneEvent("jobflow-example", v1alpha1.ReasonStarted)
	p.OneEvent("jobflow-example", v1alpha1.ReasonSucceeded)

	out, err := p.Kubectl("get", "jf")
	require.NoError(t, err, out)
	lines := strings.Split(out, "\n")
	assert.Equal(t, []string{"NAME", "STATUS", "PROGRESS", "AGE"}, strings.Fields(lines[0]))
	assert.Equal(t, []string{"jobflow-example", "Succeed", "5/5"}, strings.Fields(lines[1])[:3])
}

func TestExampleWithAnError(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "error.yaml")
	out, err := p.Kubectl("wait", "--for=condition=Failed", "--timeout=5m", "jobflow/jobflow-example-error")
	require.NoError(t, err, out)

	flow := p.flow("jobflow-example-error")
	assert.Equal(t, v1alpha1.StateFailed, flow.Status.State)
	assert.Equal(t, map[string]v1alpha1.FlowState{
		"job1": v1alpha1.FlowSucceed, "job2-error-container": v1alpha1.FlowFailed, "job3": v1alpha1.FlowSkipped, "job4": v1alpha1.FlowSucceed,
	}, statesOf(flow))
	assert.ElementsMatch(t, []string{"jobflow-example-error-job1", "jobflow-example-error-job2-error-container", "jobflow-example-error-job4"}, p.Jobs())
	failed := p.OneEvent("jobflow-example-error", v1alpha1.ReasonJobFailed)
	assert.Equal(t, "jobflow-example-error-job2-error-container", failed.Related.Name)
	assert.Contains(t, p.OneEvent("jobflow-example-error", v1alpha1.ReasonFailed).Note, "job2-error-container failed: BackoffLimitExceeded")
}

func TestExampleWithAJobTemplate(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "jobtemplate.yaml")
	p.waitState("jobflow-example-jobtemplate", v1alpha1.StateSucceed)
	assert.Equal(t, "hello bar", p.Logs("job/jobflow-example-jobtemplate-second"))
	assert.Equal(t, "own template with FOO=bar", p.Logs("job/jobflow-example-jobtemplate-own"))
	assert.Equal(t, "greeters", p.pods("jobflow-example-jobtemplate")["first"].Labels["team"], "labels of the template are kept")
	out, err := p.Kubectl("get", "job", "jobflow-example-jobtemplate-first", "-o", `jsonpath={.metadata.annotations.api\.practice\.com/job-template} {.spec.backoffLimit}`)
	require.NoError(t, err)
	assert.Equal(t, "greeter 2", out)
}

func TestExampleWithAShareVolume(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "sharevolume.yaml")
	p.waitState("jobflow-example-sharevolume", v1alpha1.StateSucceed)
	assert.Equal(t, "written by the first Job", p.Logs("job/jobflow-example-sharevolume-read"))
}

// A pod that is evicted is made anew, and the flow goes on: see test/e2e for drained nodes.
func TestExampleThatSurvivesDrainedNodes(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "drained.yaml")
	p.waitState("jobflow-example-drained", v1alpha1.StateSucceed)
	assert.Equal(t, "report follows", p.Logs("job/jobflow-example-drained-report"))
}

func TestExampleOnOneNode(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "samenode.yaml")
	p.waitState("jobflow-example-samenode", v1alpha1.StateSucceed)
	for _, node := range []string{"left", "right", "join"} {
		assert.Equal(t, node+" runs on node-2", p.Logs("job/jobflow-example-samenode-"+node))
	}
	scheduled := p.pods("jobflow-example-samenode")["left"]
	out, err := p.Kubectl("get", "events", "--field-selector", "reason=Scheduled,involvedObject.name="+scheduled.Name)
	require.NoError(t, err)
	assert.Contains(t, out, "Successfully assigned", "by the scheduler")
}

func statesOf(flow *v1alpha1.JobFlow) map[string]v1alpha1.FlowState {
	states := map[string]v1alpha1.FlowState{}
	for _, s := range flow.Status.Flows {
		states[s.Name] = s.State
	}
	return states
}

func TestExampleWithExpressions(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "when.yaml")
	flow := p.waitState("jobflow-example-when", v1alpha1.StateFailed)
	assert.Equal(t, map[string]v1alpha1.FlowState{
		"pick": "Succeed", "on-gpu": "Skipped", "on-cpu": "Succeed", "report": "Succeed", "check": "Failed", "repair": "Succeed",
	}, statesOf(flow))
	assert.Equal(t, "on-cpu computes", p.Logs("job/jobflow-example-when-on-cpu"))
	assert.Equal(t, "report: one of them computed", p.Logs("job/jobflow-example-when-report"))
	assert.Equal(t, "repair fixes it", p.Logs("job/jobflow-example-when-repair"))
	assert.Len(t, p.Jobs(), 5)
	assert.Contains(t, p.OneEvent("jobflow-example-when", v1alpha1.ReasonFailed).Note, "check failed: BackoffLimitExceeded")
}

func TestExampleWithFailuresThatAreAllowed(t *testing.T) {
	const name = "jobflow-example-allow-failure"
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "allow-failure.yaml")
	flow := p.waitState(name, v1alpha1.StateSucceed)
	assert.Equal(t, map[string]v1alpha1.FlowState{
		"lint": "Failed", "deploy": "Succeed", "report": "Succeed", "publish": "Failed",
	}, statesOf(flow))
	assert.Equal(t, "deploy goes on", p.Logs("job/"+name+"-deploy"))
	assert.Equal(t, "lint failed", p.Logs("job/"+name+"-report"))
	assert.Equal(t, "2 flows succeeded, 2 failed without failing the JobFlow", p.OneEvent(name, v1alpha1.ReasonSucceeded).Note)
}

func TestExampleWithItems(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "foreach.yaml")
	flow := p.waitState("jobflow-example-foreach", v1alpha1.StateSucceed)
	assert.Equal(t, "0: hello Ada", p.Logs("job/jobflow-example-foreach-greet-0"))
	assert.Equal(t, "1: hello Grace", p.Logs("job/jobflow-example-foreach-greet-1"))
	assert.Equal(t, "2: hello Mary", p.Logs("job/jobflow-example-foreach-greet-2"))
	assert.Equal(t, `greeted ["Ada", "Grace", "Mary"]`, p.Logs("job/jobflow-example-foreach-done"))
	assert.Len(t, p.Jobs(), 5)
	assert.Equal(t, "3/3", flow.Status.Progress)
	assert.Equal(t, "3 of 3 items succeeded", flow.Status.Flows[1].Message)
}

func TestExampleWithFinally(t *testing.T) {
	const name = "jobflow-example-finally"
	p := newPlace(t)
	p.manage()
	p.Apply(examples + "finally.yaml")
	flow := p.waitState(name, v1alpha1.StateFailed)
	assert.Equal(t, map[string]v1alpha1.FlowState{
		"prepare": "Succeed", "work": "Failed", "publish": "Skipped", "notify": "Succeed", "celebrate": "Skipped",
	}, statesOf(flow))
	assert.Equal(t, "the flow came to Failed; failed: work", p.Logs("job/"+name+"-notify"))

	out, err := p.Kubectl("patch", "jobflow", name, "--type=json", "-p", `[
	  {"op": "add", "path": "/spec/globalParams", "value": {"env": [{"name": "FIXED", "value": "yes"}]}},
	  {"op": "add", "path": "/spec/retry", "value": 1}]`)
	require.NoError(t, err, out)
	flow = p.waitState(name, v1alpha1.StateSucceed)
	assert.Equal(t, "work is done", p.Logs("job/"+name+"-work-r1"))
	assert.Equal(t, "the flow came to Succeed; failed: nothing", p.Logs("job/"+name+"-notify-r1"))
	assert.Equal(t, "hooray", p.Logs("job/"+name+"-celebrate-r1"))
	assert.ElementsMatch(t, []string{
		name + "-prepare", name + "-work", name + "-notify",
		name + "-work-r1", name + "-publish-r1", name + "-notify-r1", name + "-celebrate-r1",
	}, p.Jobs(), "prepare ran once")
	assert.EqualValues(t, 2, flow.Status.Flows[1].Attempts)
	p.OneEvent(name, v1alpha1.ReasonRetried)
}

// The seed's example is accepted as it is, by both kinds of apply, and nothing of it is dropped.
func TestSeedsExampleIsAccepted(t *testing.T) {
	for _, how := range harness.WaysToApply {
		t.Run(strings.Join(how, " "), func(t *testing.T) {
			p := newPlace(t)
			p.AcceptsAll(examples+"testdata/seed.yaml", how)
			p.manage()
			p.waitState("jobflow-example", v1alpha1.StateRunning)
			p.Eventually("its first Jobs", func() bool { return len(p.Jobs()) == 2 })
			assert.ElementsMatch(t, []string{jobflow.JobName("jobflow-example", "job1"), jobflow.JobName("jobflow-example", "job4")}, p.Jobs())
		})
	}
}
