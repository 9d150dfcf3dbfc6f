package minicluster

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// set sets a condition.
func (w *planning) set(kind string, value bool, reason, message string) {
	status := metav1.ConditionFalse
	if value {
		status = metav1.ConditionTrue
	}
	apimeta.SetStatusCondition(&w.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: w.c.Generation, LastTransitionTime: w.scene.now,
	})
}

// was returns a condition as it was before this pass.
func (w *planning) was(kind string) metav1.Condition {
	if c := apimeta.FindStatusCondition(w.c.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// admit records that pods may be made, from a moment on.
func (w *planning) admit(from metav1.Time) {
	if w.status.StartTime != nil {
		return
	}
	w.status.StartTime = from.DeepCopy()
	w.status.MaximumSize = maximumSize(w.c)
	w.status.StartSize = size(w.c)
	w.set(v1alpha1.MiniClusterAdmitted, true, v1alpha1.ReasonAdmitted, "pods may be made")
	reason, note := v1alpha1.ReasonAdmitted, "starts with "+countPods(size(w.c))
	if w.was(v1alpha1.MiniClusterAdmitted).Reason == v1alpha1.ReasonSuspended {
		reason, note = v1alpha1.ReasonResumed, "starts again with "+countPods(size(w.c))
	}
	w.tell(events.Normal(reason, note))
}

// suspend records that the cluster is suspended.
func (w *planning) suspend() {
	w.rest(v1alpha1.MiniClusterStateSuspended, v1alpha1.ReasonSuspended, "spec.suspend is true, or the pods of before are being stopped")
	if w.was(v1alpha1.MiniClusterAdmitted).Reason != v1alpha1.ReasonSuspended {
		w.tell(events.Normal(v1alpha1.ReasonSuspended, "suspended"))
	}
}

// wait records that the cluster waits for Kueue.
func (w *planning) wait() {
	w.rest(v1alpha1.MiniClusterStatePending, v1alpha1.ReasonQueued, "the Job waits for Kueue to let it start")
	if w.was(v1alpha1.MiniClusterAdmitted).Reason != v1alpha1.ReasonQueued {
		w.tell(events.Normal(v1alpha1.ReasonQueued, "waits for Kueue to let it start"))
	}
}

// rest records that the cluster may not run now, and why.
func (w *planning) rest(state v1alpha1.MiniClusterState, reason, message string) {
	w.status.State = state
	w.status.StartTime, w.status.Leader, w.status.FailedWorker = nil, nil, nil
	w.status.Size, w.status.ReadyPods = w.scene.count(w.c)
	for _, kind := range []string{
		v1alpha1.MiniClusterAdmitted, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterBrokerReady,
		v1alpha1.MiniClusterRunning, events.ConditionReady,
	} {
		w.set(kind, false, reason, message)
	}
	w.unstall()
}

// describe records how far a cluster that may run has come.
func (w *planning) describe() {
	c, s, n := w.c, w.scene, size(w.c)
	w.status.Selector = LabelUID + "=" + string(c.UID) + "," + batchv1.JobNameLabel + "=" + c.Name
	w.status.Size, w.status.ReadyPods = s.count(c)
	w.unstall()

	leader := s.leader()
	stopping := s.job != nil && (attempt(s.job) < w.status.Restarts || w.isLeaderLost() || s.job.DeletionTimestamp != nil)
	running := !stopping && leader != nil && !isOver(leader) && leader.DeletionTimestamp == nil && isServing(leader, workerName(c))
	if w.isEnding() {
		return // the Job has yet to say how it ended: until then all stays as it was, since a state never goes back
	}
	if n := w.status.ReadyPods; n == size(c) && !stopping {
		w.set(v1alpha1.MiniClusterPodsReady, true, v1alpha1.ReasonPodsReady, readyPods(n, size(c)))
	} else {
		w.set(v1alpha1.MiniClusterPodsReady, false, v1alpha1.ReasonPodsNotReady, readyPods(n, size(c)))
	}
	switch {
	case c.Spec.Flux.Disable:
		w.set(v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonFluxDisabled, "there is no broker: flux.disable is true")
	case running:
		w.set(v1alpha1.MiniClusterBrokerReady, true, v1alpha1.ReasonBrokerReady, "the leader's broker is up, with its quorum")
	default:
		w.set(v1alpha1.MiniClusterBrokerReady, false, v1alpha1.ReasonBrokerNotReady,
			w.besides(fmt.Sprintf("the leader's broker isn't up, or waits for its quorum of %d", quorum(c))))
	}
	switch {
	case running:
		w.status.State = v1alpha1.MiniClusterStateRunning
		w.both(true, v1alpha1.ReasonRunning, w.occupation())
		if w.was(v1alpha1.MiniClusterRunning).Status != metav1.ConditionTrue {
			w.tell(events.Normal(v1alpha1.ReasonRunning, w.occupation()).About(leader))
		}
	case stopping || w.status.Restarts > c.Status.Restarts:
		w.status.State = v1alpha1.MiniClusterStateRestarting
		w.both(false, v1alpha1.ReasonRestarting, "the leader failed or was lost; all pods are being stopped")
	default:
		w.status.State = v1alpha1.MiniClusterStateStarting
		reason, message := v1alpha1.ReasonStarting, w.besides(readyPods(w.status.ReadyPods, n))
		if why := w.refused(); why != "" {
			reason, message = v1alpha1.ReasonPodsRefused, message+"; pods are refused: "+why
		}
		w.both(false, reason, message)
	}
}

// isEnding reports whether the leader's work is over and there will be no other start, while the Job hasn't ended.
func (w *planning) isEnding() bool {
	c, s := w.c, w.scene
	if s.job == nil || attempt(s.job) < w.status.Restarts || c.Status.Leader == nil {
		return false
	}
	if s.job.Annotations[annotationFailure] != "" {
		return true
	}
	leader := s.leader()
	if leader == nil || leader.UID != c.Status.Leader.UID {
		return w.isLeaderLost() && !w.mayRestart(failure{})
	}
	if isOver(leader) || leader.DeletionTimestamp != nil {
		return leader.Status.Phase == corev1.PodSucceeded || !w.mayRestart(failure{})
	}
	state := ending(leader, workerName(c))
	return state != nil && (state.ExitCode == 0 || !w.mayRestart(failure{}))
}

// both sets what is the same as long as a valid cluster hasn't ended: that it runs, and that it is as it should be.
func (w *planning) both(value bool, reason, message string) {
	w.set(v1alpha1.MiniClusterRunning, value, reason, message)
	if !w.invalid { // else refuse sets it
		w.set(events.ConditionReady, value, reason, message)
	}
}

func (w *planning) occupation() string {
	if modeOf(w.c) == modeInteractive {
		return "the broker is up, and waits for someone to log in"
	}
	return "the leader runs the command"
}

func readyPods(ready, size int32) string {
	return fmt.Sprintf("%d of %s ready", ready, countPods(size))
}

// stall says that nothing more will happen by itself.
func (w *planning) stall(reason, message string) {
	w.set(events.ConditionReady, false, reason, message)
	w.set(events.ConditionStalled, true, reason, message)
}

// unstall takes back what stall said. What the builder said of the children is the builder's to take back.
func (w *planning) unstall() {
	if w.invalid && w.status.CompletionTime == nil {
		return
	}
	stalled := apimeta.FindStatusCondition(w.status.Conditions, events.ConditionStalled)
	if stalled != nil && stalled.Reason == v1alpha1.ReasonInvalidSpec {
		apimeta.RemoveStatusCondition(&w.status.Conditions, events.ConditionStalled)
	}
}

// sameConditions reports whether two statuses say the same but for messages.
func sameConditions(a, b *v1alpha1.MiniClusterStatus) bool {
	return slices.EqualFunc(a.Conditions, b.Conditions, func(x, y metav1.Condition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.ObservedGeneration == y.ObservedGeneration
	})
}

// sameMilestones reports whether nothing differs that the next pass must know.
func sameMilestones(a, b *v1alpha1.MiniClusterStatus) bool {
	return a.Restarts == b.Restarts && a.StartTime.Equal(b.StartTime) && a.CompletionTime.Equal(b.CompletionTime) &&
		(a.FailedWorker == nil) == (b.FailedWorker == nil) && a.ObservedGeneration == b.ObservedGeneration &&
		(a.Leader == nil) == (b.Leader == nil) && (a.Leader == nil || *a.Leader == *b.Leader)
}
