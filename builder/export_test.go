package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// Quarantined gives an operator without a manager the record of a quarantine; package quarantine does so for those of a manager.
func Quarantined[T client.Object](o *Operator[T], record *inflight.Record) *Operator[T] {
	o.inFlight = record
	return o
}
