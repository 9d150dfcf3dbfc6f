package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// NotReady returns the children of a result that aren't ready.
func NotReady(r Result) []ChildStatus { return r.notReady() }

// Contested returns the children of a result that another writer changes again and again.
func Contested(r Result) []ChildStatus { return r.contested() }

// Quarantined gives an operator without a manager the record of a quarantine; package quarantine does so for those of a manager.
func Quarantined[T client.Object](o *Operator[T], record *inflight.Record) *Operator[T] {
	o.inFlight = record
	return o
}
