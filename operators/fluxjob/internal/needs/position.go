package needs

import (
	"iter"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// Positions yields those beyond the exact ones of a line of a length that are marked: 200, 500, 1000, 2000 and so on.
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

// Position returns where a job stands in the line of a setup, as far as the setup's status tells: exactly, or rounded up
// to the next mark or to the line's length, if it has a priority there. Nil: it isn't in the line yet.
func Position(job *v1alpha1.FluxJob, priority int32, setup *v1alpha1.FluxSetup) *int32 {
	line := setup.Status.Queue
	for i := range line {
		if line[i].Name == job.Name && line[i].Namespace == job.Namespace {
			return ptr.To(int32(i) + 1)
		}
	}
	if len(line) < v1alpha1.MaxFluxQueueEntries {
		return nil
	}
	place := Place(job, priority)
	for i := range setup.Status.QueuePositions {
		m := &setup.Status.QueuePositions[i]
		mark := queue.Job{ID: queue.ID{Namespace: m.Namespace, Name: m.Name}, Priority: m.Priority, Since: m.QueuedTime.Time}
		if place.Compare(&mark) <= 0 {
			return ptr.To(m.Position)
		}
	}
	return ptr.To(roundUp(setup.Status.PendingWorkloads))
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
