package daemonjob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/message"
)

const (
	// maxFailures bounds status.failures.
	maxFailures = 10
	// statusDelay is how long counts may wait to be written.
	statusDelay = time.Second
)

// statusOf returns the status that follows from a survey and a verdict.
func statusOf(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, nodes *survey, v verdict, now metav1.Time) v1alpha1.DaemonJobStatus {
	status := was
	status.Paused = v.paused
	status.Suspended = int32(nodes.held())
	status.Active, status.Waiting, status.Skipped = int32(nodes.active())-status.Suspended, int32(len(nodes.waiting)), 0
	status.Succeeded, status.Failed = int32(len(nodes.succeeded)), int32(len(nodes.failed))
	status.Desired = int32(nodes.desired())
	if nodes.news {
		status.SucceededNodes, status.FailedNodes = hostlist.Format(nodes.succeeded), hostlist.Format(nodes.failed)
		status.Failures = lastFailures(was.Failures, nodes)
	}
	status.State = stateOf(job, nodes, v)
	switch {
	case v.reason == v1alpha1.ReasonSuspended, v.reason == v1alpha1.ReasonInvalidSpec && job.Spec.Suspend:
		status.ActiveSince = nil
	case v.reason == v1alpha1.ReasonInvalidSpec && status.StartTime == nil:
	default:
		status.StartTime = cmp.Or(status.StartTime, now.DeepCopy())
		status.ActiveSince = cmp.Or(status.ActiveSince, now.DeepCopy())
	}
	if v.ended() {
		status.CompletionTime = completionTime(status.StartTime, nodes, v, now)
		status.Active, status.Suspended, status.Waiting = 0, 0, 0
		status.Skipped = status.Desired - status.Succeeded - status.Failed
	}
	setConditions(&status, job, nodes, v, now)
	return status
}

// stateOf sums a job up in one word.
func stateOf(job *v1alpha1.DaemonJob, nodes *survey, v verdict) v1alpha1.State {
	started := nodes.active()+nodes.ended() > 0
	switch {
	case v.ended():
		return v.end
	case job.Spec.Suspend && (started || v.reason == v1alpha1.ReasonSuspended):
		return v1alpha1.StateSuspended
	case v.reason == v1alpha1.ReasonPaused:
		return v1alpha1.StatePaused
	case started:
		return v1alpha1.StateRunning
	case v.reason == v1alpha1.ReasonInvalidSpec:
		return v1alpha1.StateFailed
	default:
		return v1alpha1.StatePending
	}
}

// completionTime is when the last Job ended, if that ended the job: later than that it was only seen.
func completionTime(start *metav1.Time, nodes *survey, v verdict, now metav1.Time) *metav1.Time {
	byItself := v.reason == v1alpha1.ReasonSucceeded || v.reason == v1alpha1.ReasonJobFailed
	if byItself && nodes.lastEnd != nil && !nodes.lastEnd.Before(start) {
		return nodes.lastEnd.DeepCopy()
	}
	return now.DeepCopy()
}

// lastFailures adds new failures to those that still hold, and keeps the last.
func lastFailures(was []v1alpha1.NodeFailure, nodes *survey) []v1alpha1.NodeFailure {
	failed := make(map[string]bool, len(nodes.failed))
	for _, node := range nodes.failed {
		failed[node] = true
	}
	failures := slices.DeleteFunc(slices.Clone(was), func(f v1alpha1.NodeFailure) bool { return !failed[f.Node] })
	for _, f := range nodes.newFailures {
		failures = append(failures, f.NodeFailure)
	}
	return failures[max(0, len(failures)-maxFailures):]
}

func setConditions(status *v1alpha1.DaemonJobStatus, job *v1alpha1.DaemonJob, nodes *survey, v verdict, now metav1.Time) {
	text := v.message
	if len(status.Failures) > 0 && v.reason != v1alpha1.ReasonInvalidSpec {
		text += ": " + message.List(status.Failures, describeFailure)
	}
	text = message.Shorten(text)
	ready := metav1.ConditionFalse
	if v.ready {
		ready = metav1.ConditionTrue
	}
	setCondition(status, job, now, events.ConditionReady, ready, v.reason, text)
	switch v.end {
	case v1alpha1.StateSucceed:
		setCondition(status, job, now, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v.reason, text)
	case v1alpha1.StateFailed:
		setCondition(status, job, now, v1alpha1.ConditionFailed, metav1.ConditionTrue, v.reason, text)
	}
	if v.reason == v1alpha1.ReasonInvalidSpec && status.State == v1alpha1.StateFailed {
		setCondition(status, job, now, v1alpha1.ConditionFailed, metav1.ConditionTrue, v.reason, text)
	}
	if v.stalled || v.end == v1alpha1.StateFailed {
		setCondition(status, job, now, events.ConditionStalled, metav1.ConditionTrue, v.reason, text)
	} else {
		unstall(status)
	}
	switch {
	case job.Spec.Suspend && !v.ended():
		setCondition(status, job, now, v1alpha1.ConditionSuspended, metav1.ConditionTrue, v1alpha1.ReasonSuspended, "the spec says suspend")
	case isSuspended(status) && !slices.ContainsFunc(nodes.running, run.isHeld):
		setCondition(status, job, now, v1alpha1.ConditionSuspended, metav1.ConditionFalse, v1alpha1.ReasonResumed, "no Job is suspended any more")
	}
}

func setCondition(status *v1alpha1.DaemonJobStatus, job *v1alpha1.DaemonJob, now metav1.Time, kind string, value metav1.ConditionStatus, reason, text string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: text,
		ObservedGeneration: job.Generation, LastTransitionTime: now,
	})
}

// unstall takes back that the job was stalled. What the builder said of the children is the builder's to take back.
func unstall(status *v1alpha1.DaemonJobStatus) {
	stalled := meta.FindStatusCondition(status.Conditions, events.ConditionStalled)
	if stalled != nil && (stalled.Reason == v1alpha1.ReasonInvalidSpec || stalled.Reason == v1alpha1.ReasonPaused) {
		meta.RemoveStatusCondition(&status.Conditions, events.ConditionStalled)
	}
	failed := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionFailed)
	if failed != nil && failed.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionFailed)
	}
}

func isSuspended(status *v1alpha1.DaemonJobStatus) bool {
	return meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionSuspended)
}

// isHeld reports whether a Job is suspended.
func (r run) isHeld() bool { return ptr.Deref(r.job.Spec.Suspend, false) }

// isTransition reports whether a status has news that people or programs wait for.
func isTransition(before, after *v1alpha1.DaemonJobStatus) bool {
	was := meta.FindStatusCondition(before.Conditions, events.ConditionReady)
	is := meta.FindStatusCondition(after.Conditions, events.ConditionReady)
	return before.State != after.State || was == nil || is == nil || was.Status != is.Status || was.Reason != is.Reason ||
		before.ObservedGeneration != after.ObservedGeneration || before.Retry != after.Retry
}

// progress tells of the nodes in one sentence.
func (s *survey) progress() string {
	var b strings.Builder
	held := s.held()
	fmt.Fprintf(&b, "%d of %s succeeded", len(s.succeeded), message.Count(s.desired(), "node"))
	for _, c := range []struct {
		n    int
		what string
	}{
		{len(s.failed), "failed"}, {s.active() - held - len(s.former), "running"}, {held - len(s.resuming), "suspended"}, {len(s.pending), "to come"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %d %s", c.n, c.what)
		}
	}
	if old := slices.Concat(s.former, s.resuming); len(old) > 0 {
		fmt.Fprintf(&b, ", %d waiting for old pods to end (%s)", len(old), message.List(old, obstacle.String))
	}
	if len(s.waiting) > 0 {
		fmt.Fprintf(&b, ", %d waiting (%s)", len(s.waiting), message.List(s.waiting, obstacle.String))
	}
	return b.String()
}

func (o obstacle) String() string { return o.node + " " + o.why }

func describeFailure(f v1alpha1.NodeFailure) string {
	return strings.TrimSuffix(f.Node+" failed: "+f.Message, ": ")
}
