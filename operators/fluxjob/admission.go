package fluxjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// acceptOrDecline accepts the reservation that the queue has made for the job, unless it was evicted, or is for a spec that needed
// something else. Nothing is created in this pass: the status must record first that the job holds the quota.
func (p *pass) acceptOrDecline(o *observed) decision {
	r := o.offer
	why := r.Evicted
	if why == nil && !p.covers(r, o.queue) {
		why = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonSpecChanged, Time: p.now, Message: fmt.Sprintf(
			"the reservation was for generation %d, which needed something else", r.Generation)}
	}
	if why != nil {
		d := p.wait(o)
		d.takesAttempt, d.eviction = true, why
		return d
	}
	return decision{action: actionAdmit, takesAttempt: true, records: true, admission: &v1alpha1.FluxAdmission{
		Queue: o.queue.Name, Time: r.Time, Generation: p.job.Generation, Size: r.Size, Pods: r.Pods, Resources: r.Resources,
	}}
}

// admitWithKueue admits a job without a FluxSetup: Kueue holds the pods back.
func (p *pass) admitWithKueue() decision {
	share := needs.Of(p.job, nil)
	return decision{action: actionAdmit, takesAttempt: true, records: true, admission: &v1alpha1.FluxAdmission{
		Time: p.now, Generation: p.job.Generation, Size: share.Size, Pods: share.Pods, Resources: share.Resources,
	}}
}

// covers reports whether a reservation is what the job needs in its present generation.
func (p *pass) covers(r *v1alpha1.FluxReservation, queue *v1alpha1.FluxSetup) bool {
	if r.Generation == p.job.Generation {
		return true
	}
	share := needs.Of(p.job, queue)
	return share.Size == r.Size && share.Pods == r.Pods && equality.Semantic.DeepEqual(share.Resources, r.Resources)
}

// isStillNeeded reports whether what the job holds is what it needs in its present generation.
func (p *pass) isStillNeeded(o *observed) bool {
	a := p.job.Status.Admission
	return p.covers(&v1alpha1.FluxReservation{Generation: a.Generation, Size: a.Size, Pods: a.Pods, Resources: a.Resources}, o.queue)
}
