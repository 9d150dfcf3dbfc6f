package fluxjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// status returns the status that follows from what is observed and the decision.
func (p *pass) status(o *observed, d decision) *v1alpha1.FluxJobStatus {
	s := p.job.Status.DeepCopy()
	if s.Admission == nil {
		s.Queue, s.Size = queueName(p.job), needs.Size(p.job, o.queue)
	}
	s.Admission, s.Position = d.admission.DeepCopy(), d.position
	if d.takesAttempt {
		s.Attempts++
	}
	if d.eviction != nil {
		s.LastEviction = d.eviction.DeepCopy()
	}
	p.setPriority(s, o)
	switch d.action {
	case actionAdmit:
		s.Size, s.RequeueTime, s.MiniCluster = d.admission.Size, nil, "" // the MiniCluster of this attempt has yet to be observed
		if s.StartTime == nil && d.admission.Queue != "" {               // with Kueue, the MiniCluster has the time
			s.StartTime = d.admission.Time.DeepCopy()
		}
	case actionRun:
		p.setProgress(s, o)
	case actionRequeue:
		if d.requeueTime != nil {
			s.Requeues, s.RequeueTime = s.Requeues+1, d.requeueTime.DeepCopy()
		}
	case actionEnd:
		s.CompletionTime, s.ExitCode, s.RequeueTime = d.end.time.DeepCopy(), d.end.exitCode, nil
		if c := o.cluster; c != nil {
			s.MiniCluster, s.Restarts = c.Name, c.Status.Restarts
		}
	}
	p.setConditions(s, p.report(s, o, d))
	return s
}

// setProgress records what the MiniCluster that runs says of itself.
func (p *pass) setProgress(s *v1alpha1.FluxJobStatus, o *observed) {
	if !o.runs() {
		return
	}
	c := o.cluster
	s.MiniCluster, s.Restarts = c.Name, c.Status.Restarts
	if s.StartTime == nil {
		s.StartTime = c.Status.StartTime.DeepCopy()
	}
	if isQueued(c) || !meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.MiniClusterPodsReady) {
		return
	}
	s.Requeues = 0
	if s.Admission.ReadyTime == nil { // from now on the queue's readiness timeout is met
		s.Admission.ReadyTime = p.now.DeepCopy()
	}
}

// report is a job's state, and what its conditions say.
type report struct {
	state                                                      v1alpha1.FluxJobState
	requested, waiting, clusterReady, running, finished, ready condition
}

// condition is what a condition says.
type condition struct {
	holds           bool
	reason, message string
}

// newReport returns the report of a job that hasn't ended: all conditions but JobRequested are False, with the state's reason.
func newReport(state v1alpha1.FluxJobState, reason, message string) report {
	no := condition{false, reason, message}
	return report{
		state: state, requested: condition{true, v1alpha1.ReasonRequested, "the spec is valid"},
		waiting: no, clusterReady: no, running: no, finished: condition{false, v1alpha1.ReasonNotFinished, "the job has not ended"}, ready: no,
	}
}

// report returns the report that follows from a decision. s has what else the new status says.
func (p *pass) report(s *v1alpha1.FluxJobStatus, o *observed, d decision) report {
	switch d.action {
	case actionReject:
		r := newReport(v1alpha1.FluxJobRequested, d.reason, d.message)
		r.requested = r.ready
		return r
	case actionSuspend:
		return newReport(v1alpha1.FluxJobSuspended, d.reason, d.message)
	case actionMove, actionWait, actionRequeue:
		return waitingReport(d.reason, d.message)
	case actionStop:
		return newReport(v1alpha1.FluxJobStopping, d.reason, d.message)
	case actionEnd:
		r := newReport(v1alpha1.FluxJobFailed, v1alpha1.ReasonFinished, "the job has ended")
		if d.end.succeeded {
			r.state = v1alpha1.FluxJobSucceeded
		}
		r.finished = condition{true, d.reason, d.message}
		return r
	case actionRun:
		if o.runs() {
			return progressReport(s, o.cluster)
		}
	}
	r := newReport(v1alpha1.FluxJobStarting, v1alpha1.ReasonStarting, "the MiniCluster is being created")
	r.waiting = admittedCondition(s)
	return r
}

func waitingReport(reason, message string) report {
	r := newReport(v1alpha1.FluxJobWaiting, reason, message)
	r.waiting.holds = true
	return r
}

// progressReport returns the report of a job whose MiniCluster may run.
func progressReport(s *v1alpha1.FluxJobStatus, c *v1alpha1.MiniCluster) report {
	if isQueued(c) {
		admitted := lifecycle.Condition(c.Status.Conditions, v1alpha1.MiniClusterAdmitted)
		return waitingReport(admitted.Reason, admitted.Message)
	}
	pods := lifecycle.Condition(c.Status.Conditions, v1alpha1.MiniClusterPodsReady)
	ready := lifecycle.Condition(c.Status.Conditions, events.ConditionReady)
	running := lifecycle.Condition(c.Status.Conditions, v1alpha1.MiniClusterRunning)
	isReady := pods.Status == metav1.ConditionTrue
	var r report
	switch {
	case running.Status == metav1.ConditionTrue:
		r = newReport(v1alpha1.FluxJobRunning, v1alpha1.ReasonRunning, "the command runs")
		r.running.holds = true
	case running.Reason == v1alpha1.ReasonPodsTerminating:
		r = newReport(v1alpha1.FluxJobStarting, running.Reason, running.Message)
		if c.Status.State == v1alpha1.MiniClusterStateRunning { // the leader is being stopped; neither state goes back
			r.state = v1alpha1.FluxJobRunning
		}
	case isReady:
		r = newReport(v1alpha1.FluxJobReady, v1alpha1.ReasonPodsReady, "all pods are ready")
	case isBlocked(ready.Reason): // not with the reason itself: the builder removes its own reasons from Ready
		r = newReport(v1alpha1.FluxJobStarting, v1alpha1.ReasonMiniClusterBlocked,
			"the operator can't create the MiniCluster: "+ready.Reason+": "+ready.Message)
	case c.Status.FailedWorker != nil:
		r = newReport(v1alpha1.FluxJobStarting, v1alpha1.ReasonStarting, "the pods are starting: "+ready.Message)
	default:
		r = newReport(v1alpha1.FluxJobStarting, v1alpha1.ReasonStarting, "the pods are starting")
	}
	r.waiting = admittedCondition(s)
	if pods.Reason != "" {
		r.clusterReady = condition{isReady, pods.Reason, pods.Message}
	}
	return r
}

// admittedCondition returns what JobWaitingForResources says of a job that no longer waits.
func admittedCondition(s *v1alpha1.FluxJobStatus) condition {
	text := fmt.Sprintf("queue %q reserved %s", s.Queue, amountOf(needs.NumberOfPods, int64(s.Admission.Pods)))
	if s.Admission.Queue == "" {
		text = fmt.Sprintf("Kueue's queue %q holds the pods back until its quota allows them", s.Queue)
	}
	return condition{false, v1alpha1.ReasonAdmitted, text}
}

// isBlocked reports whether the reason of a MiniCluster's condition Ready is a blocker that a user can remove, such as another owner's
// object of the same name, or a policy that refuses the pods.
func isBlocked(reason string) bool {
	return reason == events.ReasonNotOwned || reason == events.ReasonApplyFailed || reason == v1alpha1.ReasonPodsRefused
}

// isQueued reports whether Kueue holds the pods of a MiniCluster back, or will get the Job once pods of an earlier one have ended.
func isQueued(c *v1alpha1.MiniCluster) bool {
	admitted := lifecycle.Condition(c.Status.Conditions, v1alpha1.MiniClusterAdmitted)
	return admitted.Status == metav1.ConditionFalse &&
		(admitted.Reason == v1alpha1.ReasonQueued || admitted.Reason == v1alpha1.ReasonPodsTerminating)
}

// setConditions sets the state and the conditions of a report.
func (p *pass) setConditions(s *v1alpha1.FluxJobStatus, r report) {
	s.State = r.state
	conditions := p.conditions(s)
	set := func(kind string, c condition) { conditions.Set(kind, c.holds, c.reason, c.message) }
	set(v1alpha1.ConditionJobRequested, r.requested)
	set(v1alpha1.ConditionJobWaitingForResources, r.waiting)
	set(v1alpha1.ConditionJobMiniClusterReady, r.clusterReady)
	set(v1alpha1.ConditionJobRunning, r.running)
	set(v1alpha1.ConditionJobFinished, r.finished)
	switch r.state {
	case v1alpha1.FluxJobSucceeded:
		set(v1alpha1.ConditionSucceeded, r.finished)
		conditions.Conclude()
		return
	case v1alpha1.FluxJobFailed:
		set(v1alpha1.ConditionFailed, r.finished)
		conditions.Conclude()
		return
	}
	if r.requested.holds {
		set(events.ConditionReady, r.ready)
		conditions.RemoveInvalid()
	} else {
		conditions.Stall(r.requested.reason, r.requested.message)
	}
}
