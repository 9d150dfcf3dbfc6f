package former

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
)

// SetName sets the name of the kept state.
func SetName(conditions *[]metav1.Condition, name string, generation int64, now time.Time) {
	meta.SetStatusCondition(conditions, status.Condition(events.ConditionUndoable, true, events.ReasonStateKept, name, generation, now))
}

// KeepName keeps the name that the observed owner's conditions have, also if the plan sets all conditions itself.
func KeepName(conditions *[]metav1.Condition, observed []metav1.Condition) {
	was := meta.FindStatusCondition(observed, events.ConditionUndoable)
	if was == nil {
		return
	}
	if set := meta.FindStatusCondition(*conditions, events.ConditionUndoable); set == nil || *set != *was {
		meta.RemoveStatusCondition(conditions, events.ConditionUndoable)
		*conditions = append(*conditions, *was)
	}
}
