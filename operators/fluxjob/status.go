package fluxjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// order is that of a job's conditions.
var order = []string{
	v1alpha1.ConditionJobRequested, v1alpha1.ConditionJobWaitingForResources, v1alpha1.ConditionJobMiniClusterReady,
	v1alpha1.ConditionJobRunning, v1alpha1.ConditionJobFinished,
	v1alpha1.ConditionSucceeded, v1alpha1.ConditionFailed, events.ConditionReady, events.ConditionStalled,
}

// set says what a condition is to be. The last word counts.
func (p *step) set(kind string, is bool, reason, message string) {
	value := metav1.ConditionFalse
	if is {
		value = metav1.ConditionTrue
	}
	if p.says == nil {
		p.says = map[string]metav1.Condition{}
	}
	p.says[kind] = metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message,
		ObservedGeneration: p.job.Generation, LastTransitionTime: p.now,
	}
}

// setConditions sets what was said. What an invalid spec said is taken back; what the builder said of the children is the
// builder's to take back.
func (p *step) setConditions() {
	for _, kind := range order {
		if c, ok := p.says[kind]; ok {
			meta.SetStatusCondition(&p.status.Conditions, c)
		}
	}
	_, saysStalled := p.says[events.ConditionStalled]
	before := meta.FindStatusCondition(p.status.Conditions, events.ConditionStalled)
	if before != nil && len(p.says) > 0 && !saysStalled && before.Reason == v1alpha1.ReasonInvalidSpec {
		meta.RemoveStatusCondition(&p.status.Conditions, events.ConditionStalled)
	}
}

// at sets the state, and the conditions of a job that has not ended. What isn't so yet has the state's reason.
func (p *step) at(state v1alpha1.FluxJobState, reason, message string) {
	p.status.State = state
	p.set(v1alpha1.ConditionJobRequested, true, v1alpha1.ReasonRequested, "the spec is valid")
	p.set(v1alpha1.ConditionJobWaitingForResources, false, reason, message)
	p.set(v1alpha1.ConditionJobMiniClusterReady, false, reason, message)
	p.set(v1alpha1.ConditionJobRunning, false, reason, message)
	p.set(v1alpha1.ConditionJobFinished, false, v1alpha1.ReasonNotFinished, "the job has not ended")
	p.set(events.ConditionReady, false, reason, message)
}

func (p *step) invalid(why string) {
	p.status.Position = nil
	p.at(v1alpha1.FluxJobRequested, v1alpha1.ReasonInvalidSpec, why)
	p.set(v1alpha1.ConditionJobRequested, false, v1alpha1.ReasonInvalidSpec, why)
	p.set(events.ConditionStalled, true, v1alpha1.ReasonInvalidSpec, why)
}

func (p *step) suspended() {
	p.status.Position = nil
	p.at(v1alpha1.FluxJobSuspended, v1alpha1.ReasonSuspended, "spec.suspend is true")
}

func (p *step) waiting(reason, why string) {
	p.at(v1alpha1.FluxJobWaiting, reason, why)
	p.set(v1alpha1.ConditionJobWaitingForResources, true, reason, why)
}

func (p *step) starting() {
	p.at(v1alpha1.FluxJobStarting, v1alpha1.ReasonStarting, "the MiniCluster is being made")
	p.admitted()
}

// admitted says that the job no longer waits for resources.
func (p *step) admitted() {
	a := p.status.Admission
	how := fmt.Sprintf("queue %q reserved %s", p.status.Queue, much(needs.NumberOfPods, int64(a.Pods)))
	if a.Queue == "" {
		how = fmt.Sprintf("Kueue's queue %q holds the pods back until there is room", p.status.Queue)
	}
	p.set(v1alpha1.ConditionJobWaitingForResources, false, v1alpha1.ReasonAdmitted, how)
}

func (p *step) stopping() {
	why, text := p.status.Admission.Evicted, "the pods are being stopped: "
	if why.Reason == v1alpha1.ReasonInvalidSpec { // there have been none
		text = ""
	}
	p.at(v1alpha1.FluxJobStopping, why.Reason, text+why.Message)
}

// follow says how far the MiniCluster is.
func (p *step) follow() {
	c := p.cluster
	if c == nil || c.DeletionTimestamp != nil || c.Spec.Suspend {
		p.starting()
		return
	}
	p.status.MiniCluster, p.status.Restarts = c.Name, c.Status.Restarts
	if p.status.StartTime == nil {
		p.status.StartTime = c.Status.StartTime.DeepCopy()
	}
	pods := conditionOf(c, v1alpha1.MiniClusterPodsReady)
	running := conditionOf(c, v1alpha1.MiniClusterRunning)
	admitted := conditionOf(c, v1alpha1.MiniClusterAdmitted)
	isReady, isRunning := pods.Status == metav1.ConditionTrue, running.Status == metav1.ConditionTrue
	switch {
	case admitted.Status == metav1.ConditionFalse && admitted.Reason == v1alpha1.ReasonQueued:
		p.waiting(admitted.Reason, admitted.Message)
		return
	case isRunning:
		p.at(v1alpha1.FluxJobRunning, v1alpha1.ReasonRunning, "the command runs")
	case isReady:
		p.at(v1alpha1.FluxJobReady, v1alpha1.ReasonPodsReady, "all pods are ready")
	case isHindered(c):
		ready := conditionOf(c, events.ConditionReady)
		p.at(v1alpha1.FluxJobStarting, v1alpha1.ReasonMiniClusterBlocked, // the builder's reasons in Ready are the builder's to set and to remove
			"the MiniCluster can't be made as long as this is so: "+ready.Reason+": "+ready.Message)
	default:
		p.at(v1alpha1.FluxJobStarting, v1alpha1.ReasonStarting, howItStarts(c))
	}
	p.admitted()
	if isReady {
		p.set(v1alpha1.ConditionJobMiniClusterReady, true, pods.Reason, pods.Message)
		p.wasReady()
	} else if pods.Reason != "" {
		p.set(v1alpha1.ConditionJobMiniClusterReady, false, pods.Reason, pods.Message)
	}
	if isRunning {
		p.set(v1alpha1.ConditionJobRunning, true, v1alpha1.ReasonRunning, "the command runs")
	}
}

// howItStarts says that the pods are starting, and which worker keeps them from it if one has failed.
func howItStarts(c *v1alpha1.MiniCluster) string {
	if c.Status.FailedWorker != nil {
		return "the pods are starting: " + conditionOf(c, events.ConditionReady).Message
	}
	return "the pods are starting"
}

// isHindered reports whether something keeps a MiniCluster from being made that someone can fix, such as an object of
// someone else's in its way, or pods that are refused.
func isHindered(c *v1alpha1.MiniCluster) bool {
	reason := conditionOf(c, events.ConditionReady).Reason
	return reason == events.ReasonNotOwned || reason == events.ReasonApplyFailed || reason == v1alpha1.ReasonPodsRefused
}

// wasReady notes that all pods were ready: from then on the queue's readiness timeout is met.
func (p *step) wasReady() {
	if a := p.status.Admission; a.ReadyTime == nil {
		a.ReadyTime = p.now.DeepCopy()
	}
	p.status.Requeues = 0
}

func conditionOf(c *v1alpha1.MiniCluster, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// ended says how the job ended.
func (p *step) ended(o outcome) {
	final, failed := v1alpha1.FluxJobSucceeded, false
	if !o.succeeded {
		final, failed = v1alpha1.FluxJobFailed, true
	}
	if o.exitCode != nil && failed {
		o.message = fmt.Sprintf("exit code %d: %s", *o.exitCode, o.message)
	}
	p.at(final, v1alpha1.ReasonFinished, "the job has ended")
	p.set(v1alpha1.ConditionJobFinished, true, o.reason, o.message)
	p.set(events.ConditionReady, !failed, o.reason, o.message)
	if failed {
		p.set(v1alpha1.ConditionFailed, true, o.reason, o.message)
		p.set(events.ConditionStalled, true, o.reason, o.message)
	} else {
		p.set(v1alpha1.ConditionSucceeded, true, o.reason, o.message)
	}
}

func sameStatus(a, b *v1alpha1.FluxJobStatus) bool { return equality.Semantic.DeepEqual(a, b) }
