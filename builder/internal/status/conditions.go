package status

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

// Outcome is the end of a pass, as the standard conditions report it.
type Outcome struct {
	Ready, Progressing, Stalled bool
	Reason, Message             string
}

// Set sets the standard conditions with the same reason, message and generation.
func (o Outcome) Set(conditions *[]metav1.Condition, generation int64, now time.Time) {
	for _, c := range []struct {
		kind string
		is   bool
	}{{events.ConditionReady, o.Ready}, {events.ConditionProgressing, o.Progressing}, {events.ConditionStalled, o.Stalled}} {
		meta.SetStatusCondition(conditions, Condition(c.kind, c.is, o.Reason, o.Message, generation, now))
	}
}

// Override replaces a condition that the plan sets. before are the conditions of the observed owner: if the condition's status in them
// is the same, its transition time stays, even if the plan sets another status in each pass.
func Override(conditions *[]metav1.Condition, before []metav1.Condition, c metav1.Condition) {
	meta.SetStatusCondition(conditions, c)
	set := meta.FindStatusCondition(*conditions, c.Type)
	set.LastTransitionTime = c.LastTransitionTime
	if was := meta.FindStatusCondition(before, c.Type); was != nil && was.Status == c.Status {
		set.LastTransitionTime = was.LastTransitionTime
	}
}

// Failure is the failure that a pass reports instead of the plan's conditions.
type Failure struct {
	Reason, Message string
	Terminal        bool // no retry can help
}

// failures are the reasons that only the builder sets, to recognize its earlier reports.
var failures = []string{
	events.ReasonApplyFailed, events.ReasonNotOwned, events.ReasonContested, events.ReasonInvalidPlan, events.ReasonQuarantined,
	events.ReasonObservationFailed,
}

// unplanned are those of them that a valid plan disproves.
var unplanned = []string{events.ReasonInvalidPlan, events.ReasonQuarantined, events.ReasonObservationFailed}

// Report overrides Ready, and Stalled if the failure is terminal. An earlier report of Stalled is removed.
func (f Failure) Report(conditions *[]metav1.Condition, before []metav1.Condition, generation int64, now time.Time) {
	remove(conditions, events.ConditionStalled, failures)
	Override(conditions, before, Condition(events.ConditionReady, false, f.Reason, f.Message, generation, now))
	if f.Terminal {
		Override(conditions, before, Condition(events.ConditionStalled, true, f.Reason, f.Message, generation, now))
	}
}

// RemoveReport removes the conditions that an earlier pass has reported and the plan has left unchanged.
func RemoveReport(conditions *[]metav1.Condition) {
	remove(conditions, events.ConditionStalled, failures)
	remove(conditions, events.ConditionReady, failures)
}

// RemoveUnplanned removes the conditions of an earlier pass that had no valid plan. What it reported of children stays.
func RemoveUnplanned(conditions *[]metav1.Condition) {
	remove(conditions, events.ConditionStalled, unplanned)
	remove(conditions, events.ConditionReady, unplanned)
}

func remove(conditions *[]metav1.Condition, kind string, reasons []string) {
	if c := meta.FindStatusCondition(*conditions, kind); c != nil && slices.Contains(reasons, c.Reason) {
		meta.RemoveStatusCondition(conditions, kind)
	}
}

// NameIn returns the name that a condition records as its message; empty if the condition isn't True.
func NameIn(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
		return c.Message
	}
	return ""
}

// SetIf sets a condition that owners have only if something is so, and removes it otherwise.
func SetIf(conditions *[]metav1.Condition, is bool, c metav1.Condition) {
	if is {
		meta.SetStatusCondition(conditions, c)
	} else {
		meta.RemoveStatusCondition(conditions, c.Type)
	}
}

// Condition returns a condition, whose status has changed now if it has.
func Condition(kind string, is bool, reason, message string, generation int64, now time.Time) metav1.Condition {
	c := metav1.Condition{
		Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}
