package daemonjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

const (
	// maxFailures bounds status.failures.
	maxFailures = 10
	// statusDelay is how long a status that differs only in counts may wait to be written.
	statusDelay = time.Second
)

// status returns the status that follows from the observed nodes and the decision.
func (p *pass) status(o *observed, d decision) v1alpha1.DaemonJobStatus {
	status := p.last
	status.Paused = d.paused
	status.Suspended = int32(o.suspended())
	status.Active, status.Waiting, status.Skipped = int32(o.active())-status.Suspended, int32(len(o.blocked)), 0
	status.Succeeded, status.Failed = int32(len(o.succeeded)), int32(len(o.failed))
	status.Desired = int32(o.desired())
	if o.changed {
		status.SucceededNodes, status.FailedNodes = hostlist.Format(o.succeeded), hostlist.Format(o.failed)
		status.Failures = lastFailures(p.last.Failures, o)
	}
	suspended, invalid := d.reason == v1alpha1.ReasonSuspended, d.reason == v1alpha1.ReasonInvalidSpec
	if o.started() > 0 || !suspended && !invalid { // Jobs of a pass that crashed before it recorded the start
		status.StartTime = cmp.Or(status.StartTime, p.now.DeepCopy())
	}
	status.State = p.state(o, d, status.StartTime != nil)
	switch {
	case suspended, invalid && p.job.Spec.Suspend:
		status.ActiveSince = nil
	case status.StartTime != nil:
		status.ActiveSince = cmp.Or(status.ActiveSince, p.now.DeepCopy())
	}
	if d.ends() {
		status.CompletionTime = p.completionTime(status.StartTime, o, d)
		status.Active, status.Suspended, status.Waiting = 0, 0, 0
		status.Skipped = status.Desired - status.Succeeded - status.Failed
	}
	p.setConditions(&status, o, d)
	return status
}

// state returns the job's state in one word. A job that was started may have no Jobs: a suspension deletes those in a queue of Kueue, and a
// user may delete the others.
func (p *pass) state(o *observed, d decision, hasStarted bool) v1alpha1.State {
	switch {
	case d.ends():
		return d.end
	case p.job.Spec.Suspend && (hasStarted || d.reason == v1alpha1.ReasonSuspended):
		return v1alpha1.StateSuspended
	case d.reason == v1alpha1.ReasonPaused:
		return v1alpha1.StatePaused
	case hasStarted && o.active()+o.interruptedJobs+o.ended() > 0:
		return v1alpha1.StateRunning
	case d.reason == v1alpha1.ReasonInvalidSpec && !hasStarted:
		return v1alpha1.StateFailed
	default:
		return v1alpha1.StatePending
	}
}

// completionTime returns when the last Job ended, if that ended the job; this pass only observes it later. The clock of a node may be off,
// so a time before the start or after now doesn't count.
func (p *pass) completionTime(start *metav1.Time, o *observed, d decision) *metav1.Time {
	lastJobEndedIt := d.reason == v1alpha1.ReasonSucceeded || d.reason == v1alpha1.ReasonJobFailed
	if lastJobEndedIt && o.lastEnd != nil && !o.lastEnd.Before(start) && !p.now.Before(o.lastEnd) {
		return o.lastEnd.DeepCopy()
	}
	return p.now.DeepCopy()
}

// lastFailures adds new failures to the recorded ones that still hold, and keeps the last maxFailures.
func lastFailures(recorded []v1alpha1.NodeFailure, o *observed) []v1alpha1.NodeFailure {
	failed := make(map[string]bool, len(o.failed))
	for _, node := range o.failed {
		failed[node] = true
	}
	failures := slices.DeleteFunc(slices.Clone(recorded), func(f v1alpha1.NodeFailure) bool { return !failed[f.Node] })
	for _, f := range o.newFailures {
		failures = append(failures, f.NodeFailure)
	}
	return failures[max(0, len(failures)-maxFailures):]
}

// conditions returns the conditions of a new status of the job.
func (p *pass) conditions(status *v1alpha1.DaemonJobStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&status.Conditions, p.job.Generation, p.now)
}

func (p *pass) setConditions(status *v1alpha1.DaemonJobStatus, o *observed, d decision) {
	text := d.message
	if len(status.Failures) > 0 && d.reason != v1alpha1.ReasonInvalidSpec {
		text += ": " + message.List(status.Failures, describeFailure)
	}
	text = message.Shorten(text)
	conditions := p.conditions(status)
	conditions.Set(events.ConditionReady, d.ready, d.reason, text)
	if d.end == v1alpha1.StateSucceed {
		conditions.Set(v1alpha1.ConditionSucceeded, true, d.reason, text)
	}
	if status.State == v1alpha1.StateFailed {
		conditions.Set(v1alpha1.ConditionFailed, true, d.reason, text)
	} else {
		conditions.Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
	}
	if d.stalled || d.end == v1alpha1.StateFailed {
		conditions.Set(events.ConditionStalled, true, d.reason, text)
	} else {
		conditions.Remove(events.ConditionStalled, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonPaused)
	}
	switch {
	case p.job.Spec.Suspend && !d.ends():
		conditions.Set(v1alpha1.ConditionSuspended, true, v1alpha1.ReasonSuspended, "spec.suspend is true")
	case isSuspended(status) && !slices.ContainsFunc(o.running, run.isSuspendedByUs):
		conditions.Set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonResumed, "the operator has resumed all Jobs that it suspended")
	}
}

// progress describes the nodes in one sentence.
func (o *observed) progress() string {
	var b strings.Builder
	named := map[string]bool{} // below, and a Job can be suspended as well
	for _, n := range slices.Concat(o.failing, o.interrupted, o.resuming) {
		named[n.node] = true
	}
	running, suspended := o.terminating-len(o.leftover), 0
	for _, r := range o.running {
		switch {
		case named[r.node]:
		case r.isSuspended():
			suspended++
		default:
			running++
		}
	}
	fmt.Fprintf(&b, "%d of %s succeeded", len(o.succeeded), message.Count(o.desired(), "node"))
	for _, c := range []struct {
		n    int
		what string
	}{
		{len(o.failed), "failed"}, {running, "running"}, {suspended, "suspended"}, {len(o.pending), "to come"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %d %s", c.n, c.what)
		}
	}
	for _, c := range []struct {
		nodes []blocker
		what  string
	}{
		{o.failing, "failing"}, {o.interrupted, "interrupted"},
		{slices.Concat(o.leftover, o.resuming), "waiting for old pods to end"}, {o.blocked, "waiting"},
	} {
		if len(c.nodes) > 0 {
			fmt.Fprintf(&b, ", %d %s (%s)", len(c.nodes), c.what, message.List(c.nodes, blocker.String))
		}
	}
	return b.String()
}

func describeFailure(f v1alpha1.NodeFailure) string {
	return strings.TrimSuffix(f.Node+" failed: "+f.Message, ": ")
}
