package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

func TestAFailureThatIsAllowedIsRecordedFirst(t *testing.T) {
	lint := node("lint")
	lint.AllowFailure = true
	plan := planOf(makeFlow(lint, node("deploy", "lint")), failedJob("lint"))
	assert.Empty(t, plan.Children)
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, lifecycle.Shortly, plan.RequeueAfter)
	assert.Equal(t, []string{"demo-deploy"}, started(planOf(plan.Status, failedJob("lint"))))
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
		flow := makeFlow(node("a"))
		flow.Spec.SuccessWhen, flow.Spec.Finally = text, []v1alpha1.Flow{node("last")}
		plan := planOf(flow)
		assert.Empty(t, plan.Children)
		assert.Contains(t, condition(plan.Status, "Ready").Message, want)
		assert.Equal(t, "InvalidSpec", condition(plan.Status, "Ready").Reason)
	}
}
