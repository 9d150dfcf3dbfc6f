package replicajob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// isSuspended reports whether it is recorded that the job is suspended, or is being suspended.
func (j *job) isSuspended() bool {
	c := meta.FindStatusCondition(j.was.Conditions, v1alpha1.ConditionSuspended)
	return c != nil && (c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonSuspending)
}

// suspend takes away all that the job has, once it is recorded that it is being suspended. It is suspended when no pod is
// left. What has succeeded runs again after the resume; restarts stay counted.
func (j *job) suspend(r *roster) decision {
	d := decision{status: j.was.DeepCopy(), records: !j.isSuspended()}
	s := d.status
	j.tellCounts(s, r)
	s.StartTime = nil
	j.set(s, v1alpha1.ConditionCreated, true, v1alpha1.ReasonCreated, "the job is valid, and known to the operator")
	unstall(s)
	if left := len(r.pods()); left > 0 {
		j.tellStopping(s, "runPolicy.suspend is true; "+stopping(left))
	} else {
		j.tellSuspended(s)
	}
	forgetEnds(s)
	d.events = j.transitions(s, nil)
	if d.records {
		d.requeue = soon
		return d
	}
	d.deletes(alive(r.pods()))
	d.edits = release(r.strays)
	d.prune = j.prunable()
	return d
}

// tellSuspended sets the state and the conditions of a job that has no pods any more.
func (j *job) tellSuspended(s *v1alpha1.ReplicaJobStatus) {
	const why = "runPolicy.suspend is true"
	s.State = v1alpha1.ReplicaJobSuspended
	j.set(s, v1alpha1.ConditionSuspended, true, v1alpha1.ReasonSuspended, why)
	for _, kind := range []string{v1alpha1.ConditionRunning, v1alpha1.ConditionRestarting} {
		if meta.IsStatusConditionTrue(s.Conditions, kind) {
			j.set(s, kind, false, v1alpha1.ReasonSuspended, "the job is suspended")
		}
	}
	j.set(s, events.ConditionReady, false, v1alpha1.ReasonSuspended, why)
}

// tellStopping says why pods are being stopped. Until they are gone the state is that of before: they may still run.
func (j *job) tellStopping(s *v1alpha1.ReplicaJobStatus, why string) {
	if !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionSuspended) {
		j.set(s, v1alpha1.ConditionSuspended, false, v1alpha1.ReasonSuspending, why)
	}
	j.set(s, events.ConditionReady, false, v1alpha1.ReasonSuspending, why)
}

func stopping(pods int) string {
	if pods == 1 {
		return "1 pod is being stopped"
	}
	return fmt.Sprintf("%d pods are being stopped", pods)
}

// resume starts a job anew that was suspended, once all of its old pods are gone: none of them may be taken for one that
// was made since.
func (j *job) resume(r *roster) decision {
	if pods := r.pods(); len(pods) > 0 {
		d := decision{status: j.was.DeepCopy()}
		j.tellCounts(d.status, r)
		j.tellStopping(d.status, "the job is resumed once its old pods are gone; "+stopping(len(pods)))
		forgetEnds(d.status)
		d.deletes(alive(pods))
		return d
	}
	s := j.was.DeepCopy()
	j.set(s, v1alpha1.ConditionSuspended, false, v1alpha1.ReasonResumed, "runPolicy.suspend is false")
	s.StartTime = j.now.DeepCopy()
	j.tellCounts(s, r)
	j.tellGoingOn(s, r, "")
	return decision{status: s, records: true, requeue: soon, events: j.transitions(s, nil)}
}

// forgetEnds takes what has ended out of a status: it is to run again.
func forgetEnds(s *v1alpha1.ReplicaJobStatus) {
	for name, rs := range s.ReplicaStatuses {
		rs.Pending, rs.Succeeded, rs.Failed, rs.SucceededIndexes = 0, 0, 0, ""
		s.ReplicaStatuses[name] = rs
	}
}

// over cleans up after a job that has ended, and deletes it when its time has come. Its verdict is final.
func (j *job) over(pods []*corev1.Pod) decision {
	s := j.was.DeepCopy()
	s.ObservedGeneration = j.generation
	for i := range s.Conditions {
		s.Conditions[i].ObservedGeneration = j.generation
	}
	lifecycle.ConditionsOf(&s.Conditions, j.generation, j.now).Conclude()
	j.tellLeft(s, pods)
	expiry := lifecycle.Expiry(s.CompletionTime, j.spec.RunPolicy.TTLSecondsAfterFinished, j.now.Time)
	d := decision{status: s, events: j.changeIgnored(), requeue: expiry.Left, expired: expiry.Due}
	if expiry.Due {
		return d // everything goes with it
	}
	d.prune = j.gangKinds()
	if j.cleanPodPolicy() != v1alpha1.CleanPodNone {
		d.prune = j.prunable()
	}
	var goners []*corev1.Pod
	for _, pod := range alive(pods) {
		if j.claims(pod) && j.cleansUp(pod) {
			goners = append(goners, pod)
		}
	}
	d.deletes(goners)
	return d
}

// cleanPodPolicy returns what is to become of the pods.
func (j *job) cleanPodPolicy() v1alpha1.CleanPodPolicy {
	if policy := j.spec.RunPolicy.CleanPodPolicy; policy != "" {
		return policy
	}
	return v1alpha1.CleanPodRunning
}

// cleansUp reports whether a pod goes now that the job has ended. A deadline ends what runs, whatever the policy.
func (j *job) cleansUp(pod *corev1.Pod) bool {
	hasEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch j.cleanPodPolicy() {
	case v1alpha1.CleanPodAll:
		return true
	case v1alpha1.CleanPodNone:
		failed := meta.FindStatusCondition(j.was.Conditions, v1alpha1.ConditionFailed)
		return !hasEnded && failed != nil && failed.Reason == v1alpha1.ReasonDeadlineExceeded
	default:
		return !hasEnded
	}
}

// tellLeft sets how many pods of a job that has ended are still there and haven't ended. How many have succeeded and
// failed is what it was when the verdict was made.
func (j *job) tellLeft(s *v1alpha1.ReplicaJobStatus, pods []*corev1.Pod) {
	for name, rs := range s.ReplicaStatuses {
		rs.Active, rs.Pending = 0, 0
		s.ReplicaStatuses[name] = rs
	}
	for _, t := range j.gather(pods).teams {
		rs, ok := s.ReplicaStatuses[t.name]
		if !ok {
			continue
		}
		for i := range t.slots {
			switch t.slots[i].state {
			case running:
				rs.Active++
			case pending:
				rs.Pending++
			}
		}
		s.ReplicaStatuses[t.name] = rs
	}
}

// prunable are the kinds of which the job has nothing but what it wants.
func (j *job) prunable() []client.Object { return append(j.gangKinds(), &corev1.Service{}) }

// pods returns all pods of the job.
func (r *roster) pods() []*corev1.Pod {
	pods := append(r.surplus[:len(r.surplus):len(r.surplus)], r.old...)
	r.each(func(_ *team, _ int, s *slot) {
		if s.pod != nil {
			pods = append(pods, s.pod)
		}
	})
	return pods
}
