package admission

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// What a FluxSetup's status can record are amounts of the queue beside those that the quota limits, so that jobs wait for them and preempt
// for them. They are private to each setup.
const (
	reservations     = "reservations"
	reservationBytes = "reservationBytes"
)

// private are the last of cohort.names.
var private = []string{reservations, reservationBytes}

const (
	// maxSize is how many bytes the reservations of one FluxSetup may have, with a mark of eviction each. etcd accepts 1.5 MiB by default.
	// The rest is for the spec and the queue's entries. Earlier versions admitted up to 1,300,000 bytes and one more job, of at most 12,000.
	// It must not become smaller: a FluxSetup with more preempts for no job.
	maxSize = 1_312_000
	// baseSize is how many bytes a reservation has in JSON without its names and resources, with a mark of eviction.
	baseSize = 360
	// amountSize is how many bytes a resource has in JSON without its name.
	amountSize = 24
)

// limitRecord limits what a setup can record, regardless of its quota.
func (c *cohort) limitRecord(s *queue.Setup) {
	for r, name := range c.names {
		switch name {
		case reservations:
			s.Quota[r], s.Borrow[r], s.Lend[r] = v1alpha1.MaxFluxReservations, 0, 0
		case reservationBytes:
			s.Quota[r], s.Borrow[r], s.Lend[r] = maxSize, 0, 0
		}
	}
}

// sizeOf returns about how many bytes a reservation of a job has in JSON once it is evicted. Jobs in a queue are counted in each pass, so
// nothing is marshalled.
func sizeOf[V any](setup *v1alpha1.FluxSetup, job queue.ID, resources iter.Seq2[corev1.ResourceName, V]) int64 {
	n := baseSize + len(job.Namespace) + len(job.Name) + len(setup.Name)
	for name := range resources {
		n += len(name) + amountSize
	}
	return int64(n)
}

// lacksRecord reports whether a job waits because its setup's status can't record it.
func (c *cohort) lacksRecord(why queue.Why) bool {
	return why.Reason == queue.WaitingForQuota && slices.Contains(private, c.names[why.Resource])
}

// isFull reports whether the status of the cohort's own setup can't record a job that waits, for whatever reason it does.
func (c *cohort) isFull(state *queue.State, d *decision) bool {
	free, shared := d.Balance[c.self].Free, len(c.names)-len(private)
	return slices.ContainsFunc(d.Waiting[c.self], func(i int) bool {
		for r, n := range state.Jobs[i].Needs[shared:] {
			if n > free[shared+r] {
				return true
			}
		}
		return false
	})
}
