package builder

import "sigs.k8s.io/controller-runtime/pkg/client"

// Quarantined gives an operator without a manager a quarantine; [Quarantine.Around] does so for those of a manager.
func Quarantined[T client.Object](o *Operator[T], q *Quarantine) *Operator[T] {
	o.quarantine = q
	return o
}
