package admission

import "github.com/armature-dev/armature/api/v1alpha1"

const (
	// maxSize is how many bytes the reservations of one FluxSetup may have, with a mark of eviction each. etcd accepts 1.5 MiB by default.
	// The rest is for the spec, the queue's entries and one more reservation with the most resources.
	maxSize = 1_300_000
	// baseSize is how many bytes a reservation has in JSON without its names and resources, with a mark of eviction.
	baseSize = 360
	// amountSize is how many bytes a resource has in JSON without its name.
	amountSize = 24
)

// size returns about how many bytes a reservation has in JSON once it is evicted. Jobs in a queue are counted in each pass, so nothing is
// marshalled.
func size(r *v1alpha1.FluxReservation, queue string) int {
	n := baseSize + len(r.Namespace) + len(r.Name) + len(queue)
	for name := range r.Resources {
		n += len(name) + amountSize
	}
	return n
}

// sizeOf returns about how many bytes reservations have.
func sizeOf(reservations []v1alpha1.FluxReservation, queue string) int {
	n := 0
	for i := range reservations {
		n += size(&reservations[i], queue)
	}
	return n
}

// isFull reports whether so many reservations of a size are the most that the status can record.
func isFull(reservations, size int) bool {
	return reservations >= v1alpha1.MaxFluxReservations || size >= maxSize
}
