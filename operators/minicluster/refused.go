package minicluster

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// refused returns why the API server refuses the pods of the Job, empty if it doesn't, and emits an event when that begins.
func (w *planning) refused() string {
	if w.scene.job == nil {
		return ""
	}
	refused := refusal.Of(w.seen)
	why := refused.Why(w.scene.job)
	w.again(refused.Again())
	if why != "" && w.was(events.ConditionReady).Reason != v1alpha1.ReasonPodsRefused {
		w.tell(events.Warning(v1alpha1.ReasonPodsRefused, "pods are refused: "+why).About(w.scene.job))
	}
	return why
}
