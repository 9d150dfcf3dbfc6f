package lifecycle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// ChangeIgnored returns the event of an edit of a spec after the end. next says what to do to run the new spec, or which of its
// fields still take effect.
func ChangeIgnored[S ~string](kind string, state S, next string) events.Event {
	return events.Warning(v1alpha1.ReasonChangeIgnored,
		fmt.Sprintf("the %s has ended (%s), so the change of its spec has no effect; %s", kind, state, next))
}

// Refused returns the event of a spec that can't be carried out, unless the recorded condition Ready says the same of this
// generation.
func Refused(recorded []metav1.Condition, generation int64, reason, text string) []events.Event {
	last := Condition(recorded, events.ConditionReady)
	if last.Reason == reason && last.Message == text && last.ObservedGeneration == generation {
		return nil
	}
	return []events.Event{events.Warning(reason, text)}
}

// EndedUnderFormerOperator reports whether a job ended under jobflow-operator, the former operator of the kind: its status has only a
// state. This operator writes no status without an observedGeneration.
func EndedUnderFormerOperator(
	state v1alpha1.State, observedGeneration int64, started, ended *metav1.Time, conditions []metav1.Condition,
) bool {
	return (state == v1alpha1.StateSucceed || state == v1alpha1.StateFailed) &&
		observedGeneration == 0 && started == nil && ended == nil && len(conditions) == 0
}
