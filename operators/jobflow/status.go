package jobflow

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// maxMessage bounds messages in the status, in bytes.
const maxMessage = 2048

// statusOf returns the status of a flow under way, or at its end.
func statusOf(flow *v1alpha1.JobFlow, w walk, now metav1.Time) *v1alpha1.JobFlowStatus {
	status := flow.Status.DeepCopy()
	status.Flows = w.nodes
	if status.StartTime == nil {
		status.StartTime = now.DeepCopy()
	}
	count := countStates(w.nodes)
	switch {
	case count.ended() && count[v1alpha1.FlowFailed] == 0:
		status.State = v1alpha1.StateSucceed
		status.CompletionTime = completionTime(status)
		message := allSucceeded(len(w.nodes))
		setCondition(status, flow, now, builder.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, message)
		setCondition(status, flow, now, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, message)
		unstall(status)
	case count.ended():
		status.State = v1alpha1.StateFailed
		status.CompletionTime = completionTime(status)
		message := failures(w.nodes)
		stall(status, flow, now, v1alpha1.ReasonJobFailed, message)
		setCondition(status, flow, now, v1alpha1.ConditionFailed, metav1.ConditionTrue, v1alpha1.ReasonJobFailed, message)
	default:
		status.State = v1alpha1.StateRunning
		reason, message := v1alpha1.ReasonRunning, count.String()
		if count.nothingStarted() {
			status.State, reason = v1alpha1.StatePending, v1alpha1.ReasonPending
		}
		if len(w.obstacles) > 0 {
			reason = w.obstacles[0].reason
			message = shorten(list(w.obstacles, obstacle.String))
		}
		setCondition(status, flow, now, builder.ConditionReady, metav1.ConditionFalse, reason, message)
		unstall(status)
	}
	return status
}

// stall sets the conditions of a flow of which nothing more will come by itself.
func stall(status *v1alpha1.JobFlowStatus, flow *v1alpha1.JobFlow, now metav1.Time, reason, message string) {
	setCondition(status, flow, now, builder.ConditionReady, metav1.ConditionFalse, reason, message)
	setCondition(status, flow, now, builder.ConditionStalled, metav1.ConditionTrue, reason, message)
}

// unstall takes back what stall said. What the builder said of the children is the builder's to take back.
func unstall(status *v1alpha1.JobFlowStatus) {
	stalled := meta.FindStatusCondition(status.Conditions, builder.ConditionStalled)
	if stalled != nil && stalled.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&status.Conditions, builder.ConditionStalled)
	}
}

func setCondition(status *v1alpha1.JobFlowStatus, flow *v1alpha1.JobFlow, now metav1.Time, kind string, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message,
		ObservedGeneration: flow.Generation, LastTransitionTime: now,
	})
}

// completionTime is when the last Job ended: later than that it was only seen.
func completionTime(status *v1alpha1.JobFlowStatus) *metav1.Time {
	last := status.StartTime
	for i := range status.Flows {
		if end := status.Flows[i].CompletionTime; end != nil && last.Before(end) {
			last = end
		}
	}
	return last.DeepCopy()
}

// failures names the nodes that failed, and why.
func failures(nodes []v1alpha1.FlowStatus) string {
	var failed []v1alpha1.FlowStatus
	for i := range nodes {
		if nodes[i].State == v1alpha1.FlowFailed {
			failed = append(failed, nodes[i])
		}
	}
	return shorten(list(failed, failure))
}

// failure says that a node failed, and why.
func failure(s v1alpha1.FlowStatus) string {
	return strings.TrimSuffix(s.Name+" failed: "+s.Message, ": ")
}

func (o obstacle) String() string { return fmt.Sprintf("flow %q %s", o.node, o.message) }

// counts of nodes by state.
type counts map[v1alpha1.FlowState]int

func countStates(nodes []v1alpha1.FlowStatus) counts {
	c := counts{}
	for i := range nodes {
		c[nodes[i].State]++
	}
	return c
}

func (c counts) ended() bool {
	return c[v1alpha1.FlowPending]+c[v1alpha1.FlowRunning] == 0
}

func (c counts) nothingStarted() bool {
	return c[v1alpha1.FlowRunning]+c[v1alpha1.FlowSucceed]+c[v1alpha1.FlowFailed] == 0
}

func (c counts) String() string {
	total := 0
	for _, n := range c {
		total += n
	}
	text := fmt.Sprintf("%d of %d succeeded, %d running, %d pending", c[v1alpha1.FlowSucceed], total, c[v1alpha1.FlowRunning], c[v1alpha1.FlowPending])
	if n := c[v1alpha1.FlowFailed]; n > 0 {
		text += fmt.Sprintf(", %d failed, %d skipped", n, c[v1alpha1.FlowSkipped])
	}
	return text
}

// shorten cuts a message to its bound, at a character's border.
func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	const mark = "…"
	end := maxMessage - len(mark)
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + mark
}
