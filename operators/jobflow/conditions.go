package jobflow

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// conditionOrder is the order in which conditions are listed.
var conditionOrder = []string{
	events.ConditionReady, events.ConditionStalled, v1alpha1.ConditionSucceeded, v1alpha1.ConditionFailed,
	v1alpha1.ConditionStopped, v1alpha1.ConditionSuspended, v1alpha1.ConditionEditRefused,
}

func findCondition(status *v1alpha1.JobFlowStatus, kind string) *metav1.Condition {
	return meta.FindStatusCondition(status.Conditions, kind)
}

func (p *pass) setCondition(status *v1alpha1.JobFlowStatus, kind string, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message,
		ObservedGeneration: p.flow.Generation, LastTransitionTime: p.now,
	})
}

// stall sets the conditions of a flow of which nothing more will come by itself.
func (p *pass) stall(status *v1alpha1.JobFlowStatus, reason, message string) {
	p.setCondition(status, events.ConditionReady, metav1.ConditionFalse, reason, message)
	p.setCondition(status, events.ConditionStalled, metav1.ConditionTrue, reason, message)
}

// unstall takes back what stall said. What the builder said of the children is the builder's to take back.
func (p *pass) unstall(status *v1alpha1.JobFlowStatus) {
	if stalled := findCondition(status, events.ConditionStalled); stalled != nil && stalled.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&status.Conditions, events.ConditionStalled)
	}
	if failed := findCondition(status, v1alpha1.ConditionFailed); failed != nil && failed.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionFailed)
	}
}

// whyFailed says why a flow that has ended has failed. An empty reason says that it has succeeded. What was stopped before
// anything started hasn't.
func (p *pass) whyFailed(status *v1alpha1.JobFlowStatus) (reason, message string) {
	if stopped := findCondition(status, v1alpha1.ConditionStopped); p.stopped && stopped != nil {
		return stopped.Reason, stopped.Message
	}
	counts := p.failureCounts
	reason, message = p.flowsFailed()
	if reason == v1alpha1.ReasonSuccessWhenFalse { // then all that failed may be why
		counts = func(i int) bool { return p.states[i] == failed && !p.mayFail(i) }
	}
	failures := p.failures(status, counts)
	switch {
	case failures == "":
	case reason == v1alpha1.ReasonSuccessWhenFalse:
		message = shorten(message+"; "+failures, maxMessage)
	default:
		reason, message = v1alpha1.ReasonJobFailed, failures
	}
	return reason, message
}

// failures names the nodes whose failures count, and why they failed as far as it is known.
func (p *pass) failures(status *v1alpha1.JobFlowStatus, counts func(i int) bool) string {
	messages := make(map[string]string, len(status.Flows))
	for i := range status.Flows {
		messages[status.Flows[i].Name] = status.Flows[i].Message
	}
	var bad []string
	for i := range p.states {
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
