package replicajob

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// refuse is the plan of a job whose spec can't be carried out. Nothing is made. What has been started before goes on: its
// end, its deadline, a suspension and the clean-up take effect as ever, as far as the spec still says what they are.
func (j *job) refuse(p *problem, r *roster) decision {
	var d decision
	switch {
	case j.spec.RunPolicy.Suspend && (j.was.StartTime != nil || j.isSuspended()):
		d = j.suspend(r)
	case j.isSuspended(): // it isn't resumed, and its pods have to go all the same
		d = decision{status: j.was.DeepCopy()}
		d.deletes(alive(r.pods()))
	case j.was.StartTime != nil:
		d = j.carryOnInvalid(r)
		if d.status.CompletionTime != nil {
			return d
		}
	default:
		d = decision{status: j.was.DeepCopy(), records: true}
		j.tellNeverStarted(d.status, p)
	}
	if p.reason == v1alpha1.ReasonNoGangScheduler {
		d.requeue = lifecycle.Soonest(d.requeue, askAgain)
	}
	d.events = append(d.events, j.stall(d.status, p)...)
	return d
}

// tellNeverStarted sets the state of a job that can't start. Failed, by a spec that can't be carried out, it is until the
// spec is mended: completionTime isn't set.
func (j *job) tellNeverStarted(s *v1alpha1.ReplicaJobStatus, p *problem) {
	if p.reason == v1alpha1.ReasonInvalidSpec {
		s.State = v1alpha1.ReplicaJobFailed
		j.set(s, v1alpha1.ConditionFailed, true, p.reason, p.message)
		return
	}
	unstall(s)
	s.State = v1alpha1.ReplicaJobCreated
}

// carryOnInvalid ends a job that runs if it has come to its end, and otherwise records how far its replicas are.
func (j *job) carryOnInvalid(r *roster) decision {
	y, failures := jury{}, []failure(nil)
	if j.hasSameTypes() { // else what is missing may just be called otherwise now
		if len(j.validateSuccess(nil)) == 0 {
			y = j.jury(r)
		}
		if len(j.validateFailure(nil)) == 0 {
			failures = j.failures(r)
		}
	}
	if v := j.judge(r, y, failures); v.kind == hasSucceeded || v.kind == hasFailed {
		return j.end(r, v)
	}
	d := decision{status: j.was.DeepCopy()}
	if j.hasSameTypes() {
		j.tellCounts(d.status, r)
	}
	d.requeue = lifecycle.Deadline(j.was.StartTime, j.spec.RunPolicy.ActiveDeadlineSeconds, j.now.Time).Left
	return d
}

// hasSameTypes reports whether the spec has the types of replicas that are on record.
func (j *job) hasSameTypes() bool {
	for t := range j.was.ReplicaStatuses {
		if j.lacks(t) {
			return false
		}
	}
	return len(j.was.ReplicaStatuses) == len(j.spec.ReplicaSpecs)
}

// stall says in a status why the spec can't be carried out, and returns the event of it.
func (j *job) stall(s *v1alpha1.ReplicaJobStatus, p *problem) []events.Event {
	s.ObservedGeneration = j.generation
	text := message.Shorten(p.message)
	if was := meta.FindStatusCondition(j.was.Conditions, events.ConditionStalled); was != nil {
		meta.SetStatusCondition(&s.Conditions, *was) // since when it has been so
	}
	j.set(s, events.ConditionReady, false, p.reason, text)
	j.set(s, events.ConditionStalled, true, p.reason, text)
	return j.refused(p.reason, text)
}
