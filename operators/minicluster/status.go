package minicluster

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// status returns the status that follows from what is observed and the decision.
func (p *pass) status(o *observed, d decision) *v1alpha1.MiniClusterStatus {
	s := p.c.Status.DeepCopy()
	s.Size, s.ReadyPods = o.count(p.c)
	s.FailedWorker = d.failedWorker
	if d.invalid == "" || d.ends() {
		p.conditions(s).RemoveInvalid()
	}
	switch d.action {
	case actionWithhold, actionWithdraw, actionAwaitResume:
		p.setAtRest(s, o, d)
	case actionAwaitPods:
		if p.isAtRest() {
			p.setAtRest(s, o, d)
		} else {
			p.setProgress(s, o, d)
		}
	case actionStart:
		if p.isQueued(o) {
			p.setAtRest(s, o, d)
		} else {
			p.setStarted(s, o)
			p.setProgress(s, o, d)
		}
	case actionRun:
		p.setStarted(s, o)
		if leader := o.leader(); !d.stopsLeader && s.Leader == nil && leader != nil && !outcome.HasEnded(leader) {
			s.Leader = &v1alpha1.MiniClusterLeader{Pod: leader.Name, UID: leader.UID}
		}
		p.setProgress(s, o, d)
	case actionRestart:
		s.Restarts++
		s.Leader, s.FailedWorker = nil, nil
		s.LastFailure, s.StartSize = d.failure.message, size(p.c)
		p.setProgress(s, o, d)
	case actionSucceed, actionFail:
		p.setEnd(s, o, d)
	default:
		p.setProgress(s, o, d)
	}
	if p.isCertificateLost(o, d) {
		suspend := "spec.suspend"
		if of := metav1.GetControllerOfNoCopy(p.c); of != nil { // it would resume what it hasn't suspended
			suspend += fmt.Sprintf(" of %s %s", of.Kind, of.Name)
		}
		p.conditions(s).Set(v1alpha1.MiniClusterCertificateLost, true, v1alpha1.ReasonSecretDeleted, fmt.Sprintf("Secret %s was deleted while "+
			"brokers run; pods that start now can't join them: set %s to true and then to false to restart all with another certificate",
			curveName(p.c), suspend))
	} else {
		p.conditions(s).Remove(v1alpha1.MiniClusterCertificateLost)
	}
	if d.invalid != "" && !d.ends() {
		p.conditions(s).Stall(v1alpha1.ReasonInvalidSpec, d.invalid)
	}
	return s
}

func (p *pass) conditions(s *v1alpha1.MiniClusterStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&s.Conditions, p.c.Generation, p.now)
}

// setAtRest sets the state and the conditions of a cluster that may not run now.
func (p *pass) setAtRest(s *v1alpha1.MiniClusterStatus, o *observed, d decision) {
	state, reason := v1alpha1.MiniClusterStateSuspended, v1alpha1.ReasonSuspended
	text := "spec.suspend is true"
	switch {
	case d.action == actionWithhold:
		reason, text = v1alpha1.ReasonInvalidSpec, d.invalid
		if !p.c.Spec.Suspend {
			state = v1alpha1.MiniClusterStatePending
		}
	case d.action == actionAwaitPods:
		reason, text = v1alpha1.ReasonPodsTerminating, o.awaitedPod()
		if s.State != v1alpha1.MiniClusterStateSuspended {
			state = v1alpha1.MiniClusterStatePending
		}
	case !p.c.Spec.Suspend && p.isQueued(o):
		state, reason, text = v1alpha1.MiniClusterStatePending, v1alpha1.ReasonQueued, "the Job waits for Kueue to let it start"
		if d.action == actionStart {
			text = cmp.Or(p.waitsFor(o), text)
		}
	case !p.c.Spec.Suspend:
		text = "the pods from before the suspension are being stopped"
	}
	s.State = state
	s.StartTime, s.Leader, s.FailedWorker = nil, nil, nil
	for _, kind := range []string{
		v1alpha1.MiniClusterAdmitted, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterBrokerReady,
		v1alpha1.MiniClusterRunning, events.ConditionReady,
	} {
		p.conditions(s).Set(kind, false, reason, text)
	}
}

// awaitedPod says which pod of a deleted Job the cluster waits for.
func (o *observed) awaitedPod() string {
	return fmt.Sprintf("waits for pod %s of an earlier Job to end", o.leftover[0].Name)
}

// setStarted records that pods may be created, from a moment on.
func (p *pass) setStarted(s *v1alpha1.MiniClusterStatus, o *observed) {
	if s.StartTime != nil {
		return
	}
	s.StartTime = p.startTime(o)
	s.MaximumSize, s.StartSize = maximumSize(p.c), size(p.c)
	p.conditions(s).Set(v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted, "pods may be created")
}

// setProgress sets the state and the conditions of a cluster that may run.
func (p *pass) setProgress(s *v1alpha1.MiniClusterStatus, o *observed, d decision) {
	c, conditions, ready := p.c, p.conditions(s), readyPods(s.ReadyPods, size(p.c))
	s.Selector = LabelUID + "=" + string(c.UID) + "," + batchv1.JobNameLabel + "=" + c.Name
	isEnding := p.isEnding(s, o, d)
	if pod, _ := p.awaited(s, o, isEnding); pod != nil {
		p.setAwaiting(s, o, d, pod)
		return
	}
	if isEnding {
		return // the Job has yet to say how it ended: until then all stays as it was, since a state never goes back
	}
	stopping := d.action == actionAwaitPods ||
		o.job != nil && (attempt(o.job) < s.Restarts || o.isLeaderLost(c) || o.job.DeletionTimestamp != nil)
	leader := o.leader()
	running := !stopping && leader != nil && !outcome.HasEnded(leader) && leader.DeletionTimestamp == nil && isServing(leader, workerName(c))
	if s.ReadyPods == size(c) && !stopping {
		conditions.Set(v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady, ready)
	} else {
		conditions.Set(v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady, ready)
	}
	switch {
	case c.Spec.Flux.Disable:
		conditions.Set(v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonFluxDisabled, "there is no broker: flux.disable is true")
	case running:
		conditions.Set(v1alpha1.MiniClusterBrokerReady, true, v1alpha1.ReasonBrokerReady, "the leader's broker is up, with its quorum")
	default:
		conditions.Set(v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonBrokerNotReady,
			withWorker(fmt.Sprintf("the leader's broker isn't up, or waits for its quorum of %d", quorum(c)), s.FailedWorker))
	}
	var reason, text string
	switch {
	case running:
		s.State, reason, text = v1alpha1.MiniClusterStateRunning, v1alpha1.ReasonRunning, occupation(c)
	case d.action == actionAwaitPods:
		s.State, reason, text = v1alpha1.MiniClusterStateRestarting, v1alpha1.ReasonPodsTerminating, o.awaitedPod()
		if s.Restarts == 0 { // the Job was deleted before anyone knew its leader
			s.State = v1alpha1.MiniClusterStateStarting
		}
	case stopping || s.Restarts > c.Status.Restarts:
		s.State, reason = v1alpha1.MiniClusterStateRestarting, v1alpha1.ReasonRestarting
		text = "the leader failed or was lost; all pods are being stopped"
	default:
		s.State, reason, text = v1alpha1.MiniClusterStateStarting, v1alpha1.ReasonStarting, withWorker(ready, s.FailedWorker)
		if d.action == actionStart {
			text = cmp.Or(p.waitsFor(o), text)
		}
		if o.refused != "" {
			reason, text = v1alpha1.ReasonPodsRefused, text+"; pods are refused: "+o.refused
		}
	}
	conditions.Set(v1alpha1.MiniClusterRunning, running, reason, text)
	if d.invalid == "" {
		conditions.Set(events.ConditionReady, running, reason, text)
	}
}

// isLeaderKnown reports whether the leader of the present Job is on record.
func (p *pass) isLeaderKnown(s *v1alpha1.MiniClusterStatus, o *observed) bool {
	return o.job != nil && attempt(o.job) >= s.Restarts && p.c.Status.Leader != nil
}

// isEnding reports whether the leader's work is over and the cluster won't start again, while the Job hasn't ended.
func (p *pass) isEnding(s *v1alpha1.MiniClusterStatus, o *observed, d decision) bool {
	known := p.c.Status.Leader
	if !p.isLeaderKnown(s, o) {
		return false
	}
	if o.job.Annotations[annotationFailure] != "" {
		return true
	}
	mayRestart, leader := p.mayRestart(failure{}, d), o.leader()
	if leader == nil || leader.UID != known.UID {
		return o.isLeaderLost(p.c) && !mayRestart
	}
	if outcome.HasEnded(leader) || leader.DeletionTimestamp != nil {
		return leader.Status.Phase == corev1.PodSucceeded || !mayRestart
	}
	state := outcome.Terminated(leader, workerName(p.c))
	return state != nil && (state.ExitCode == 0 || !mayRestart)
}

// setEnd sets the state and the conditions of a cluster that ends.
func (p *pass) setEnd(s *v1alpha1.MiniClusterStatus, o *observed, d decision) {
	s.CompletionTime = p.now.DeepCopy()
	if o.job != nil {
		s.StartTime = p.startTime(o)
		if ended := outcome.Of(o.job).Ended; ended != nil {
			s.CompletionTime = ended.DeepCopy()
		}
	}
	conditions := p.conditions(s)
	for _, kind := range []string{v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterBrokerReady, v1alpha1.MiniClusterRunning} {
		conditions.Set(kind, false, v1alpha1.ReasonFinished, "the cluster has ended")
	}
	reason, text := p.end(o, d)
	if d.action == actionSucceed {
		s.State, s.ExitCode = v1alpha1.MiniClusterStateSucceeded, ptr.To[int32](0)
		conditions.Set(v1alpha1.ConditionSucceeded, true, reason, text)
	} else {
		s.State, s.ExitCode, s.LastFailure = v1alpha1.MiniClusterStateFailed, d.failure.code, d.failure.message
		conditions.Set(v1alpha1.ConditionFailed, true, reason, text)
	}
	conditions.Conclude()
}

// end returns the reason and the message of an end.
func (p *pass) end(o *observed, d decision) (reason, text string) {
	if d.action == actionSucceed {
		text = "the leader ended with exit code 0"
		if pod := o.leader(); pod != nil {
			if state := outcome.Terminated(pod, workerName(p.c)); state != nil {
				text += because(state.Message)
			}
		}
		return v1alpha1.ReasonSucceeded, text
	}
	text = d.failure.message
	if n := p.c.Status.Restarts; n > 0 {
		text += fmt.Sprintf(" (after %d restarts)", n)
	}
	return d.failure.reason, text
}

func occupation(c *v1alpha1.MiniCluster) string {
	if modeOf(c) == modeInteractive {
		return "the broker is up, and waits for someone to log in"
	}
	return "the leader runs the command"
}

func readyPods(ready, size int32) string {
	return fmt.Sprintf("%d of %s ready", ready, countPods(size))
}

// countPods renders a number of pods.
func countPods(n int32) string { return message.Count(int(n), "pod") }
