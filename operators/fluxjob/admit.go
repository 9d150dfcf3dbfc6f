package fluxjob

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/needs"
)

// offer returns the reservation that the job has yet to accept, nil if there is none.
func (p *step) offer() *v1alpha1.FluxReservation {
	return p.reservation(p.queue, p.job.Status.Attempts+1)
}

// accept takes the share that the queue has reserved for the job, or waits for one. Nothing is made of it in this pass:
// that the job holds it must be written first.
func (p *step) accept() {
	r := p.offer()
	switch {
	case r == nil:
		p.wait()
	case r.Evicted != nil:
		p.decline(r.Evicted)
		p.wait()
	case !p.covers(r):
		p.decline(&v1alpha1.FluxEviction{Reason: v1alpha1.ReasonSpecChanged, Time: p.now, Message: fmt.Sprintf(
			"the reservation was for generation %d, which needed something else", r.Generation)})
		p.wait()
	default:
		p.hold(&v1alpha1.FluxAdmission{
			Queue: p.queue.Name, Time: r.Time, Generation: p.job.Generation, Size: r.Size, Pods: r.Pods, Resources: r.Resources,
		})
	}
}

// acceptFromKueue takes a share of no FluxSetup: Kueue will hold the pods back.
func (p *step) acceptFromKueue() {
	share := needs.Of(p.job, nil)
	p.hold(&v1alpha1.FluxAdmission{
		Time: p.now, Generation: p.job.Generation, Size: share.Size, Pods: share.Pods, Resources: share.Resources,
	})
}

// hold notes what the job holds from now on.
func (p *step) hold(a *v1alpha1.FluxAdmission) {
	p.status.Attempts++
	p.status.Admission = a
	p.status.Size = a.Size
	p.status.Position = nil
	p.status.RequeueTime = nil
	p.status.MiniCluster = ""                       // that of this run has yet to be seen
	if p.status.StartTime == nil && a.Queue != "" { // what Kueue does, the MiniCluster knows
		p.status.StartTime = a.Time.DeepCopy()
	}
	p.starting()
	p.again(soon)
}

// decline gives a share back that the job has not accepted. It counts as a run, so that it is not taken for one that is
// still to be accepted.
func (p *step) decline(why *v1alpha1.FluxEviction) {
	if p.offer() == nil {
		return
	}
	p.status.Attempts++
	if why != nil {
		p.status.LastEviction = why.DeepCopy()
	}
}

// move declines whatever the queue that the job was in before may have reserved for it, seen or not. What the new one has
// reserved so soon goes with it, and is reserved again.
func (p *step) move() {
	p.status.Attempts++
	p.status.Position = nil
	p.waiting(v1alpha1.ReasonQueued, fmt.Sprintf("it moved to queue %q", p.status.Queue))
	p.again(soon)
}

// covers reports whether a reservation is what the job needs as it is now.
func (p *step) covers(r *v1alpha1.FluxReservation) bool {
	if r.Generation == p.job.Generation {
		return true
	}
	share := needs.Of(p.job, p.queue)
	return share.Size == r.Size && share.Pods == r.Pods && equality.Semantic.DeepEqual(share.Resources, r.Resources)
}

// stillNeeded reports whether what the job holds is what it needs, should it be changed since.
func (p *step) stillNeeded() bool {
	a := p.status.Admission
	return p.covers(&v1alpha1.FluxReservation{Generation: a.Generation, Size: a.Size, Pods: a.Pods, Resources: a.Resources})
}

// noteEviction notes that the share must be given back, once that is so: it stays so whatever becomes of the reason. But
// what was refused isn't refused any more once the spec is another.
func (p *step) noteEviction(invalid bool) {
	a := p.status.Admission
	if a.Evicted != nil {
		if a.Evicted.Reason == v1alpha1.ReasonInvalidSpec && p.job.Status.ObservedGeneration != p.job.Generation {
			a.Evicted.Reason, a.Evicted.Message = v1alpha1.ReasonSpecChanged, "the spec was changed after the MiniCluster was refused"
		}
		return
	}
	if r := p.reservation(p.lender, p.status.Attempts); r != nil && r.Evicted != nil {
		a.Evicted = r.Evicted.DeepCopy()
		return
	}
	if p.job.Spec.Suspend {
		a.Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true", Time: p.now}
		return
	}
	if p.cluster == nil && (invalid || !p.stillNeeded()) {
		a.Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonSpecChanged, Time: p.now, Message: fmt.Sprintf(
			"what was reserved was for generation %d, which needed something else", a.Generation)}
		return
	}
	a.Evicted = p.refused()
}

// refused says that the MiniCluster was refused, nil if it wasn't.
func (p *step) refused() *v1alpha1.FluxEviction {
	why := p.refusal()
	switch {
	case why == nil:
		return nil
	case p.cluster != nil && p.cluster.Annotations[AnnotationSpec] != p.render().Annotations[AnnotationSpec]:
		return &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonSpecChanged, Time: p.now, Message: "the MiniCluster of the spec before was refused: " + why.Message}
	default:
		return &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonInvalidSpec, Time: p.now, Message: "the MiniCluster is refused: " + why.Message}
	}
}

// later returns a time after another.
func later(t metav1.Time, seconds int64) metav1.Time {
	return metav1.NewTime(t.Add(time.Duration(seconds) * time.Second))
}
