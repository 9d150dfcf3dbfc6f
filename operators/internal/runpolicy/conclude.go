package runpolicy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// Conclude sets the conditions Ready and Stalled of a run that has ended to what its condition Succeeded or Failed says.
// Call it in each pass after the end: a pass that fails, or whose children are contested, overwrites both, and when that
// is over the builder only removes what it wrote. A run that hasn't ended stays as it is.
func Conclude(conditions *[]metav1.Condition, generation int64, now metav1.Time) {
	set := func(kind string, status metav1.ConditionStatus, end *metav1.Condition) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, Reason: end.Reason, Message: end.Message, ObservedGeneration: generation, LastTransitionTime: now,
		})
	}
	if end := trueCondition(*conditions, v1alpha1.ConditionSucceeded); end != nil {
		set(events.ConditionReady, metav1.ConditionTrue, end)
	}
	if end := trueCondition(*conditions, v1alpha1.ConditionFailed); end != nil {
		set(events.ConditionReady, metav1.ConditionFalse, end)
		set(events.ConditionStalled, metav1.ConditionTrue, end)
	}
}

// trueCondition returns a copy of a condition that is True, or nil.
func trueCondition(conditions []metav1.Condition, kind string) *metav1.Condition {
	if c := meta.FindStatusCondition(conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
		found := *c
		return &found
	}
	return nil
}
