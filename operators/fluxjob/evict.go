package fluxjob

import (
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// giveBack stops the MiniCluster, and once its pods are gone gives the share back.
func (p *step) giveBack() {
	why := p.status.Admission.Evicted
	if why.Reason == v1alpha1.ReasonInvalidSpec && p.cluster != nil && p.job.Status.Admission.Evicted == nil {
		p.stopping() // this must be written first: nothing tells it any more once the MiniCluster is suspended
		p.again(soon)
		return
	}
	p.stop()
	if !p.podsGone() {
		p.stopping()
		return
	}
	p.status.Admission = nil
	p.status.LastEviction = why.DeepCopy()
	switch why.Reason {
	case v1alpha1.ReasonInvalidSpec:
		p.invalid(why.Message)
		return
	case v1alpha1.ReasonNotReady:
		if p.tooOften() {
			p.end(outcome{reason: v1alpha1.ReasonNotReady, message: why.Message, at: p.now})
			return
		}
		p.status.Requeues++
		p.status.RequeueTime = ptr.To(later(p.now, p.backoff()))
	}
	p.waiting(v1alpha1.ReasonRequeued, "the pods are gone, and what they used was given back: "+why.Message)
	p.again(soon)
}

// tooOften reports whether a job whose pods weren't ready in time has used up its requeues.
func (p *step) tooOften() bool {
	return p.lender != nil && p.lender.Spec.Readiness != nil && p.lender.Spec.Readiness.RequeueLimit != nil &&
		p.status.Requeues >= *p.lender.Spec.Readiness.RequeueLimit
}

// Bounds of the backoff where the FluxSetup is gone; they are the defaults of its fields.
const (
	defaultBackoff    = 60
	defaultBackoffMax = 3600
)

// backoff returns how long the job waits before it lines up again, in seconds: twice as long each time.
func (p *step) backoff() int64 {
	first, longest := int64(defaultBackoff), int64(defaultBackoffMax)
	if p.lender != nil && p.lender.Spec.Readiness != nil {
		first, longest = int64(p.lender.Spec.Readiness.BackoffSeconds), int64(p.lender.Spec.Readiness.BackoffMaxSeconds)
	}
	for range p.status.Requeues - 1 {
		if first >= longest {
			break
		}
		first *= 2
	}
	return min(first, longest)
}
