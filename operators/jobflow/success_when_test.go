package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// nodeMayFail returns a node with allowFailure.
func nodeMayFail(name string, dependencies ...string) v1alpha1.Flow {
	n := node(name, dependencies...)
	n.AllowFailure = true
	return n
}

func TestAFailureThatIsAllowed(t *testing.T) {
	s := &stepper{flow: makeFlow(nodeMayFail("lint"), node("deploy", "lint"),
		nodeWhen(`jobs.lint.failed`, "report", "lint"), nodeWhen(`jobs.lint.succeeded`, "praise", "lint"))}
	s.flow.Spec.FailFast = true
	s.step()
	plan := s.step(failedJob("lint"))
	assert.Equal(t, []string{"demo-report"}, started(plan), "a when sees the failure")
	assert.Equal(t, []string{"JobFailed"}, reasons(plan.Events))
	assert.Contains(t, plan.Events[0].Note, "allowFailure")
	assert.Zero(t, plan.StatusCanWait, "the failure goes on record before anything starts that relies on it")
	assert.Equal(t, lifecycle.Shortly, plan.RequeueAfter)
	assert.Equal(t, []string{"demo-deploy"}, started(s.step(failedJob("lint"), runningJob("report"))))
	s.step(completeJob("deploy"), completeJob("report"))
	assert.Equal(t, map[string]v1alpha1.FlowState{"lint": "Failed", "deploy": "Succeed", "report": "Succeed", "praise": "Skipped"}, states(s.flow))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.Equal(t, "2 flows succeeded, 1 failed without failing the JobFlow, 1 were skipped", condition(s.flow, "Succeeded").Message)
	assert.Equal(t, metav1.ConditionTrue, condition(s.flow, "Ready").Status)
	assert.EqualValues(t, 1, s.flow.Status.Counts.Failed)
	assert.EqualValues(t, "0", s.flow.Status.Failed)
}

func TestAFailureThatIsAllowedBesideOneThatIsNot(t *testing.T) {
	s := &stepper{flow: makeFlow(nodeMayFail("a"), node("b"), node("c", "a", "b"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{nodeMayFail("last")}
	s.step()
	s.step(failedJob("a"), failedJob("b"))
	assert.Equal(t, "not started: b failed", detailOf(s.flow, "c").Message)
	plan := s.step(failedJob("a"), failedJob("b"))
	assert.Equal(t, "a,b", envOf(t, plan, 0, "FLOW_FAILED"))
	assert.Equal(t, "Failed", envOf(t, plan, 0, "FLOW_STATUS"))
	s.step(failedJob("last"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "b failed: BackoffLimitExceeded: Job has reached the specified backoff limit", condition(s.flow, "Failed").Message)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	assert.Equal(t, []string{"demo-a-r1", "demo-b-r1"}, started(s.step()))
}

func TestFinallyMayFail(t *testing.T) {
	s := &stepper{flow: makeFlow(nodeMayFail("a"))}
	s.flow.Spec.Finally = []v1alpha1.Flow{nodeMayFail("last")}
	s.step()
	s.step(failedJob("a"))
	assert.Equal(t, "Succeed", envOf(t, s.step(failedJob("a")), 0, "FLOW_STATUS"))
	s.step(failedJob("last"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.Equal(t, "0 flows succeeded, 2 failed without failing the JobFlow", condition(s.flow, "Succeeded").Message)
}

// What was skipped because of a failure is decided again when that is allowed.
func TestAFailureMayBeAllowedAfterwards(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("c"))}
	s.step()
	s.step(failedJob("a"), runningJob("c"))
	assert.Equal(t, v1alpha1.FlowSkipped, states(s.flow)["b"])
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].AllowFailure = true })
	assert.Equal(t, []string{"demo-b"}, started(s.step(failedJob("a"), runningJob("c"))))
	assert.Empty(t, condition(s.flow, "EditRefused"))
	s.step(completeJob("b"), completeJob("c"))
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
}

// Without a limit nothing else would fail the flow: what is stopped has failed, allowed or not.
func TestWhatIsStoppedHasFailedAllowedOrNot(t *testing.T) {
	s := &stepper{flow: makeFlow(nodeMayFail("a"))}
	s.flow.Spec.SuccessWhen = "true"
	s.step()
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Terminate = true })
	s.step(runningJob("a"))
	s.step(runningJob("a"))
	s.step()
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "Terminated", condition(s.flow, "Failed").Reason)
}

func TestSuccessWhen(t *testing.T) {
	run := func(text string, finally ...v1alpha1.Flow) *stepper {
		s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "a"))}
		s.flow.Spec.SuccessWhen, s.flow.Spec.Finally = text, finally
		s.step()
		s.step(failedJob("a"), completeJob("b"))
		s.step(failedJob("a"), completeJob("b"))
		return s
	}
	s := run(`jobs.b.succeeded && jobs["c"].skipped`)
	assert.Equal(t, v1alpha1.StateSucceed, s.flow.Status.State)
	assert.Equal(t, "1 flows succeeded, 1 failed without failing the JobFlow, 1 were skipped", condition(s.flow, "Succeeded").Message)

	s = run(`jobs.exists(n, jobs[n].succeeded)`, node("last"))
	assert.EqualValues(t, "Succeed", s.flow.Status.Outcome.State)
	s.step(failedJob("last"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State, "it is over what comes before finally")
	assert.Equal(t, "last failed: BackoffLimitExceeded: Job has reached the specified backoff limit", condition(s.flow, "Failed").Message)

	s = run(`jobs.c.succeeded`, node("last"))
	assert.EqualValues(t, "Failed", s.flow.Status.Outcome.State)
	s.step(completeJob("last"))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "SuccessWhenFalse", condition(s.flow, "Failed").Reason)
	assert.Equal(t, "successWhen is false: jobs.c.succeeded; a failed: BackoffLimitExceeded: Job has reached the specified backoff limit",
		condition(s.flow, "Failed").Message)

	s = run(`1 / (jobs.c.succeeded ? 1 : 0) > 0`)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "SuccessWhenFalse", condition(s.flow, "Failed").Reason)
	assert.Contains(t, condition(s.flow, "Failed").Message, "successWhen: division by zero; a failed")
}

func TestSuccessWhenThatDoesNotCompile(t *testing.T) {
	for text, want := range map[string]string{
		`jobs.a.succeded`:        `spec.successWhen: Invalid value: "jobs.a.succeded": line 1, column 7: undefined field 'succeded'`,
		`jobs.x.failed`:          `jobs has no "x": no flow has this name`,
		`jobs.last.failed`:       `jobs has no "last": no flow has this name`,
		`state == "Failed"`:      `undeclared reference to 'state'`,
		`jobs.a.output == "yes"`: `line 1, column 7: outputs can't be read here, only succeeded, failed and skipped`,
		`jobs.a`:                 `it is of type Job, and must be a bool`,
	} {
		s := &stepper{flow: makeFlow(node("a"))}
		s.flow.Spec.SuccessWhen, s.flow.Spec.Finally = text, []v1alpha1.Flow{node("last")}
		plan := s.step()
		assert.Empty(t, plan.Children)
		assert.Contains(t, condition(s.flow, "Ready").Message, want)
		assert.Equal(t, "InvalidSpec", condition(s.flow, "Ready").Reason)
	}
}
