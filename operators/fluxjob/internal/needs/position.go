package needs

import (
	"iter"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// Positions yields the marked positions beyond the exact ones, of a queue of a length: 200, 500, 1000, 2000 and so on.
func Positions(length int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for decade := v1alpha1.MaxFluxQueueEntries; decade <= length; decade *= 10 {
			for _, position := range []int{2 * decade, 5 * decade, 10 * decade} {
				if position > length || !yield(position) {
					return
				}
			}
		}
	}
}

// Position returns the position of a job of a priority in the queue of a setup, by the setup's status: exactly, or rounded up to the next
// mark or to the queue's length. Nil: it isn't in the queue yet.
func Position(job *v1alpha1.FluxJob, priority int32, setup *v1alpha1.FluxSetup) *int32 {
	entries := setup.Status.Queue
	for i := range entries {
		if entries[i].Name == job.Name && entries[i].Namespace == job.Namespace {
			return new(int32(i) + 1)
		}
	}
	if len(entries) < v1alpha1.MaxFluxQueueEntries {
		return nil
	}
	own := QueueJob(job, priority)
	for i := range setup.Status.QueuePositions {
		m := &setup.Status.QueuePositions[i]
		mark := queue.Job{ID: queue.ID{Namespace: m.Namespace, Name: m.Name}, Priority: m.Priority, Since: m.QueuedTime.Time}
		if own.Compare(&mark) <= 0 {
			return new(m.Position)
		}
	}
	return new(roundUp(setup.Status.PendingWorkloads))
}

// roundUp returns the smallest marked position that is at least n, so that the number changes rarely.
func roundUp(n int32) int32 {
	last := int32(v1alpha1.MaxFluxQueueEntries)
	for position := range Positions(100 * int(max(n, last))) {
		if last = int32(position); last >= n {
			break
		}
	}
	return last
}
