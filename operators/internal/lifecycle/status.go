package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// WithStatus returns a plan that writes a new status of the owner; the plan as it is if the status is the recorded one. change returns a
// copy of the owner with the new status. A status that differs from the recorded one only in counts is written up to delay later.
func WithStatus[T client.Object, S any](
	plan builder.Plan[T], recorded, status *S, change func() T, delay time.Duration, onlyCountsChanged func() bool,
) builder.Plan[T] {
	if equality.Semantic.DeepEqual(*status, *recorded) { // pointers cost allocations
		return plan
	}
	plan.Status = change()
	if onlyCountsChanged() {
		plan.StatusCanWait = delay
	}
	return plan
}
