package world

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func (r *rolloutSync) writeStatus() []Change {
	st := r.d.Status.DeepCopy()
	st.ObservedGeneration = r.d.Generation
	st.Replicas, st.ReadyReplicas, st.AvailableReplicas, st.UpdatedReplicas = 0, 0, 0, 0
	for _, rs := range r.old {
		addReplicas(st, rs)
	}
	if r.current != nil {
		st.UpdatedReplicas = r.current.Status.Replicas
		addReplicas(st, r.current)
	}
	desired := r.total(r.old)
	if r.current != nil {
		desired += ptr.Deref(r.current.Spec.Replicas, 1)
	}
	st.UnavailableReplicas = max(desired-st.AvailableReplicas, 0)
	r.setConditions(st)
	return statusChange(r.d, &r.d.Status, st, func(o *appsv1.Deployment) { o.Status = *st })
}

func addReplicas(st *appsv1.DeploymentStatus, rs *appsv1.ReplicaSet) {
	st.Replicas += rs.Status.Replicas
	st.ReadyReplicas += rs.Status.ReadyReplicas
	st.AvailableReplicas += rs.Status.AvailableReplicas
}

func (r *rolloutSync) setConditions(st *appsv1.DeploymentStatus) {
	_, unavailable := r.limits()
	if st.AvailableReplicas >= r.replicas-unavailable {
		r.setCondition(st, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.setCondition(st, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.")
	}
	r.setProgress(st)
	if !r.d.Spec.Paused {
		r.setReplicaFailure(st)
	}
}

// setReplicaFailure copies the condition ReplicaFailure of a ReplicaSet, of the new one before others. It keeps the message of the first
// failure.
func (r *rolloutSync) setReplicaFailure(st *appsv1.DeploymentStatus) {
	sets := r.old
	if r.current != nil {
		sets = append([]*appsv1.ReplicaSet{r.current}, r.old...)
	}
	at := slices.IndexFunc(st.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentReplicaFailure })
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type != appsv1.ReplicaSetReplicaFailure {
				continue
			}
			if at < 0 {
				st.Conditions = append(st.Conditions, appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: c.Status, Reason: c.Reason, Message: c.Message,
					LastTransitionTime: c.LastTransitionTime, LastUpdateTime: c.LastTransitionTime,
				})
			}
			return
		}
	}
	if at >= 0 {
		st.Conditions = slices.Delete(st.Conditions, at, at+1)
	}
}

// setProgress sets the condition Progressing. It is about one roll-out: a new ReplicaSet has its own time for progress, and a roll-out
// that is complete doesn't time out when its pods fail later.
func (r *rolloutSync) setProgress(st *appsv1.DeploymentStatus) {
	if !r.hasDeadline() {
		st.Conditions = slices.DeleteFunc(st.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing
		})
		return
	}
	r.setPaused(st)
	if r.d.Spec.Paused {
		return
	}
	r.setFound(st)
	before := progressOf(&r.d.Status)
	if before != nil && before.Reason == reasonAvailable && st.Replicas == st.UpdatedReplicas {
		return
	}
	progress := progressOf(st)
	switch {
	case st.UpdatedReplicas == r.replicas && st.Replicas == r.replicas && st.AvailableReplicas == r.replicas:
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonAvailable,
			fmt.Sprintf("%s has successfully progressed.", r.subject()))
	case r.progresses(st):
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated",
			fmt.Sprintf("%s is progressing.", r.subject()))
		progressOf(st).LastUpdateTime = r.s.now()
	case progress == nil || progress.Reason == reasonAvailable || progress.Reason == reasonTimedOut:
	case r.s.Due(progress.LastUpdateTime.Add(seconds(int64(*r.d.Spec.ProgressDeadlineSeconds)))):
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonTimedOut,
			fmt.Sprintf("%s has timed out progressing.", r.subject()))
	}
}

// Reasons of the condition Progressing that later syncs read.
const (
	reasonAvailable = "NewReplicaSetAvailable"
	reasonTimedOut  = "ProgressDeadlineExceeded"
	reasonPaused    = "DeploymentPaused"
)

func (r *rolloutSync) hasDeadline() bool {
	return ptr.Deref(r.d.Spec.ProgressDeadlineSeconds, math.MaxInt32) != math.MaxInt32
}

// setPaused says that the Deployment is paused, or resumed, so that the time of the pause doesn't count.
func (r *rolloutSync) setPaused(st *appsv1.DeploymentStatus) {
	progress := progressOf(st)
	isPaused := progress != nil && progress.Reason == reasonPaused
	switch {
	case progress != nil && progress.Reason == reasonTimedOut:
	case r.d.Spec.Paused && !isPaused:
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonPaused, "Deployment is paused")
	case !r.d.Spec.Paused && isPaused:
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
}

// setFound says that the controller created the new ReplicaSet, or adopted it. The real controller does so in the sync that creates it.
// A sync here is one write, so a later one finds out: the condition is older than the ReplicaSet, and names another one.
func (r *rolloutSync) setFound(st *appsv1.DeploymentStatus) {
	if r.current == nil {
		return
	}
	progress := progressOf(st)
	isNew := func(since metav1.Time) bool { return !r.current.CreationTimestamp.Before(&since) }
	namesIt := func() bool { return strings.Contains(progress.Message, strconv.Quote(r.current.Name)) }
	switch {
	case progress == nil && !isNew(r.d.CreationTimestamp):
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet",
			fmt.Sprintf("Found new replica set %q", r.current.Name))
	case progress == nil || isNew(progress.LastUpdateTime) && !namesIt():
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated",
			fmt.Sprintf("Created new replica set %q", r.current.Name))
	}
}

// progresses reports whether the present status is nearer to the end of the roll-out than the stored one.
func (r *rolloutSync) progresses(st *appsv1.DeploymentStatus) bool {
	old := &r.d.Status
	return st.UpdatedReplicas > old.UpdatedReplicas || st.Replicas-st.UpdatedReplicas < old.Replicas-old.UpdatedReplicas ||
		st.ReadyReplicas > old.ReadyReplicas || st.AvailableReplicas > old.AvailableReplicas
}

// subject names what a message is about.
func (r *rolloutSync) subject() string {
	if r.current == nil {
		return fmt.Sprintf("Deployment %q", r.d.Name)
	}
	return fmt.Sprintf("ReplicaSet %q", r.current.Name)
}

func progressOf(st *appsv1.DeploymentStatus) *appsv1.DeploymentCondition {
	for i := range st.Conditions {
		if st.Conditions[i].Type == appsv1.DeploymentProgressing {
			return &st.Conditions[i]
		}
	}
	return nil
}

func (r *rolloutSync) setCondition(
	st *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, is corev1.ConditionStatus, reason, message string,
) {
	now := r.s.now()
	c := appsv1.DeploymentCondition{
		Type: kind, Status: is, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
	for i, old := range st.Conditions {
		if old.Type != kind {
			continue
		}
		if old.Status == is {
			c.LastTransitionTime = old.LastTransitionTime
			if old.Reason == reason && old.Message == message {
				c.LastUpdateTime = old.LastUpdateTime
			}
		}
		st.Conditions[i] = c
		return
	}
	st.Conditions = append(st.Conditions, c)
}
