package jobflow

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// conditionOrder is the order in which conditions are listed.
var conditionOrder = []string{
	events.ConditionReady, events.ConditionStalled, v1alpha1.ConditionSucceeded, v1alpha1.ConditionFailed,
	v1alpha1.ConditionStopped, v1alpha1.ConditionSuspended, v1alpha1.ConditionEditRefused,
}

// conditions returns the conditions of a new status of the flow.
func (p *pass) conditions(status *v1alpha1.JobFlowStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&status.Conditions, p.flow.Generation, p.now)
}

// setStalled sets the conditions of a flow for which nothing happens until someone acts.
func (p *pass) setStalled(status *v1alpha1.JobFlowStatus, reason, text string) {
	conditions := p.conditions(status)
	conditions.Set(events.ConditionReady, metav1.ConditionFalse, reason, text)
	conditions.Set(events.ConditionStalled, metav1.ConditionTrue, reason, text)
}

// removeStalled removes what an invalid spec had set. The builder removes its own reasons of Stalled itself.
func (p *pass) removeStalled(status *v1alpha1.JobFlowStatus) {
	conditions := p.conditions(status)
	conditions.Remove(events.ConditionStalled, v1alpha1.ReasonInvalidSpec)
	conditions.Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
}

// whyFailed says why a flow that has ended has failed. An empty reason says that it has succeeded. What was stopped before
// anything started hasn't.
func (p *pass) whyFailed(status *v1alpha1.JobFlowStatus) (reason, text string) {
	if stopped := p.conditions(status).Find(v1alpha1.ConditionStopped); p.stopped && stopped != nil {
		return stopped.Reason, stopped.Message
	}
	counts := p.failureCounts
	reason, text = p.flowsFailed()
	if reason == v1alpha1.ReasonSuccessWhenFalse { // then all that failed may be why
		counts = func(i int) bool { return p.States[i] == record.Failed && !p.mayFail(i) }
	}
	failures := p.failures(status, counts)
	switch {
	case failures == "":
	case reason == v1alpha1.ReasonSuccessWhenFalse:
		text = message.CutJSON(text+"; "+failures, maxMessage)
	default:
		reason, text = v1alpha1.ReasonJobFailed, failures
	}
	return reason, text
}

// failures names the nodes whose failures count, and why they failed as far as it is known.
func (p *pass) failures(status *v1alpha1.JobFlowStatus, counts func(i int) bool) string {
	messages := make(map[string]string, len(status.Flows))
	for i := range status.Flows {
		messages[status.Flows[i].Name] = status.Flows[i].Message
	}
	var bad []string
	for i := range p.States {
		if counts(i) {
			bad = append(bad, failure(p.nameOf(i), messages[p.nameOf(i)]))
		}
	}
	return enumerate(bad, strings.Clone)
}

// failure says that a node failed, and why.
func failure(name, message string) string {
	return strings.TrimSuffix(name+" failed: "+message, ": ")
}

func progressMessage(c v1alpha1.FlowCounts) string {
	text := fmt.Sprintf("%d of %d succeeded, %d running, %d pending", c.Succeeded, c.Total, c.Running, c.Pending)
	if c.Suspended > 0 {
		text += fmt.Sprintf(", %d suspended", c.Suspended)
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

func endMessage(c v1alpha1.FlowCounts) string {
	switch {
	case c.Skipped+c.Failed > 0:
		text := fmt.Sprintf("%d flows succeeded", c.Succeeded)
		if c.Failed > 0 {
			text += fmt.Sprintf(", %d failed without failing the JobFlow", c.Failed)
		}
		if c.Skipped > 0 {
			text += fmt.Sprintf(", %d were skipped", c.Skipped)
		}
		return text
	case c.Total == 1:
		return "the only flow succeeded"
	default:
		return fmt.Sprintf("all %d flows succeeded", c.Total)
	}
}
