package fluxjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// eviction returns why the job must give its quota back, nil if it may keep it. A recorded eviction holds whatever becomes of its reason.
// Only the reason InvalidSpec becomes SpecChanged when the spec has changed: the new one hasn't been refused.
func (p *pass) eviction(o *observed) *v1alpha1.FluxEviction {
	a := p.job.Status.Admission
	switch {
	case a.Evicted != nil && a.Evicted.Reason == v1alpha1.ReasonInvalidSpec && p.job.Status.ObservedGeneration != p.job.Generation:
		changed := a.Evicted.DeepCopy()
		changed.Reason, changed.Message = v1alpha1.ReasonSpecChanged, "the spec was changed after the MiniCluster was refused"
		return changed
	case a.Evicted != nil:
		return a.Evicted
	case o.held != nil && o.held.Evicted != nil:
		return o.held.Evicted
	case p.job.Spec.Suspend:
		return p.newEviction(v1alpha1.ReasonSuspended, "spec.suspend is true")
	case !o.runs() && p.job.Status.MiniCluster == "" && (len(o.problems) > 0 || !p.isStillNeeded(o)):
		// A MiniCluster that was observed in this attempt may have run to its end: see wasDeleted.
		return p.newEviction(v1alpha1.ReasonSpecChanged,
			fmt.Sprintf("what was reserved was for generation %d, which needed something else", a.Generation))
	case o.cluster != nil && o.cluster.Spec.Suspend && p.job.Status.MiniCluster != "" && !p.isResumable(o.cluster, a):
		// The operator deletes such a MiniCluster only between two attempts. In this one, its end would be MiniClusterDeleted.
		return p.newEviction(v1alpha1.ReasonSpecChanged,
			"a user suspended the MiniCluster, which differs from the changed spec or exceeds what was reserved, so it isn't resumed")
	}
	refusal := p.refusal(o)
	switch {
	case refusal == nil:
		return nil
	case o.cluster != nil && !p.isOfSpec(o.cluster):
		return p.newEviction(v1alpha1.ReasonSpecChanged, "the MiniCluster of the spec before was refused: "+refusal.Message)
	default:
		return p.newEviction(v1alpha1.ReasonInvalidSpec, "the MiniCluster is refused: "+refusal.Message)
	}
}

func (p *pass) newEviction(reason, message string) *v1alpha1.FluxEviction {
	return &v1alpha1.FluxEviction{Reason: reason, Message: message, Time: p.now}
}

// giveBack stops the MiniCluster of a job that was evicted, and gives the quota back once its pods are gone.
//
// Invariant: the refusal of a MiniCluster is recorded before the MiniCluster is suspended, because nothing says it any more afterwards.
func (p *pass) giveBack(o *observed, held *v1alpha1.FluxAdmission) decision {
	why := held.Evicted
	refused := why.Reason == v1alpha1.ReasonInvalidSpec
	isRecorded := p.job.Status.Admission.Evicted != nil || !refused || o.cluster == nil
	switch {
	case refused && (!isRecorded || !o.podsGone()): // there have been no pods to stop
		return decision{action: actionStop, admission: held, reason: why.Reason, message: why.Message, records: !isRecorded}
	case !o.podsGone():
		return decision{action: actionStop, admission: held, reason: why.Reason, message: "the pods are being stopped: " + why.Message}
	case refused:
		return decision{action: actionReject, eviction: why, reason: why.Reason, message: why.Message}
	case why.Reason == v1alpha1.ReasonNotReady && p.hasRequeuedTooOften(o):
		d := p.failed(o, held, why.Reason, why.Message)
		d.eviction = why
		return d
	}
	d := decision{action: actionRequeue, eviction: why, records: true,
		reason: v1alpha1.ReasonRequeued, message: "the pods are gone, and what they used was given back: " + why.Message}
	if why.Reason == v1alpha1.ReasonNotReady {
		d.requeueTime = p.requeueTime(o)
	}
	return d
}
