package admission

import (
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// A FluxSetup's status can record so many bytes of reservations. They are an amount of the queue like those that the quota limits, so
// that jobs wait for them and preempt for them. A setup neither lends nor borrows them.
const (
	// minSize is how many bytes a reservation counts at the least, so that there are at most MaxFluxReservations.
	minSize = 433
	// maxSize is how many bytes the reservations of one FluxSetup may have, with a mark of eviction each. etcd accepts 1.5 MiB by default.
	// The rest is for the spec and the queue's entries.
	maxSize = minSize * v1alpha1.MaxFluxReservations
	// baseSize is how many bytes a reservation has in JSON without its names and resources, with a mark of eviction.
	baseSize = 360
	// amountSize is how many bytes a resource has in JSON without its name.
	amountSize = 24
)

// limitReservations limits what a setup can record, regardless of its quota.
func (c *cohort) limitReservations(s *queue.Setup) {
	for r, name := range c.names {
		if name == needs.Reservations {
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
	return int64(max(n, minSize))
}

// isFull reports whether a job waits because the setup's status can't record it.
func (c *cohort) isFull(d *decision) bool {
	for _, i := range d.Waiting[c.self] {
		if c.lacksRecord(d.Why[i]) {
			return true
		}
	}
	return false
}

// lacksRecord reports whether a job waits because its setup's status can't record it.
func (c *cohort) lacksRecord(why queue.Why) bool {
	return why.Reason == queue.WaitingForQuota && c.names[why.Resource] == needs.Reservations
}
