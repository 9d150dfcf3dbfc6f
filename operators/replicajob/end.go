package replicajob

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// planTerminating returns the plan of a job that is being deleted. Garbage collection deletes its pods.
func (p *pass) planTerminating() actions {
	s := p.last.DeepCopy()
	s.State = v1alpha1.ReplicaJobTerminating
	p.conditions(s).Terminate("job")
	return actions{status: s}
}

// planEnded returns the plan of a job that has ended: it cleans up, and deletes the job once ttlSecondsAfterFinished have passed.
func (p *pass) planEnded(o *observed) actions {
	s := p.last.DeepCopy()
	s.ObservedGeneration = p.generation
	p.conditions(s).Conclude()
	o.setLeft(s)
	ttl := lifecycle.Expiry(s.CompletionTime, s.Conditions, p.spec.RunPolicy.TTLSecondsAfterFinished, p.now.Time)
	a := actions{status: s, requeueAfter: ttl.Left, deleteOwner: ttl.Due}
	if p.last.ObservedGeneration != p.generation {
		a.events = []events.Event{lifecycle.ChangeIgnored("job", p.last.State, "create a new one to run it")}
	}
	if ttl.Due {
		return a // garbage collection deletes everything else
	}
	a.prune = p.gangKinds()
	if p.cleanPodPolicy() != v1alpha1.CleanPodNone {
		a.prune = p.prunable()
	}
	var cleaned []*corev1.Pod
	for _, pod := range o.pods() {
		if p.cleansUp(pod) {
			cleaned = append(cleaned, pod)
		}
	}
	a.deletePods(cleaned)
	return a
}

// cleanPodPolicy returns runPolicy.cleanPodPolicy, or its default.
func (p *pass) cleanPodPolicy() v1alpha1.CleanPodPolicy {
	return cmp.Or(p.spec.RunPolicy.CleanPodPolicy, v1alpha1.CleanPodRunning)
}

// cleansUp reports whether a pod is deleted after the end. A deadline ends what runs, whatever the policy.
func (p *pass) cleansUp(pod *corev1.Pod) bool {
	switch p.cleanPodPolicy() {
	case v1alpha1.CleanPodAll:
		return true
	case v1alpha1.CleanPodNone:
		failed := lifecycle.Condition(p.last.Conditions, v1alpha1.ConditionFailed)
		return !outcome.HasEnded(pod) && failed.Reason == v1alpha1.ReasonDeadlineExceeded
	default:
		return !outcome.HasEnded(pod)
	}
}

// setLeft sets how many pods are left that haven't ended. The numbers of replicas that have succeeded and failed stay those of the
// end.
func (o *observed) setLeft(s *v1alpha1.ReplicaJobStatus) {
	for _, g := range o.groups {
		rs, ok := s.ReplicaStatuses[g.name]
		if !ok {
			continue
		}
		rs.Active, rs.Pending = 0, 0
		for i := range g.replicas {
			switch g.replicas[i].state {
			case running:
				rs.Active++
			case pending:
				rs.Pending++
			}
		}
		s.ReplicaStatuses[g.name] = rs
	}
}

// prunable are the kinds of which the job has only what the plan contains.
func (p *pass) prunable() []client.Object { return append(p.gangKinds(), &corev1.Service{}) }
