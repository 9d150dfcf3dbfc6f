package builder

import (
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// reported returns an owner with the status that it should have: the plan's, and what went wrong in carrying it out.
// It changes neither of its arguments. A conflict is nothing to report: the pass is tried again.
func reported[T client.Object](owner, planned T, err error, now time.Time) T {
	after := planned
	if isNil(after) {
		after = owner
	}
	conditioned, ok := any(after).(Conditioned)
	if !ok || isConflict(err) || (err == nil && !hasReport(*conditioned.Conditions())) {
		return after
	}
	after = withOwnConditions(after)
	conditions := any(after).(Conditioned).Conditions()
	dropReport(conditions, ConditionStalled)
	if err == nil {
		dropReport(conditions, ConditionReady)
		return after
	}
	report := Condition{
		Type: ConditionReady, Status: metav1.ConditionFalse, Reason: failureReason(err), Message: summarize(err),
		ObservedGeneration: owner.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
	}
	before := *any(owner).(Conditioned).Conditions()
	overwrite(conditions, before, report)
	if IsTerminal(err) {
		report.Type, report.Status = ConditionStalled, metav1.ConditionTrue
		overwrite(conditions, before, report)
	}
	return after
}

// overwrite sets a condition in place of what the plan says. It holds since it was set first, whatever the plan says in
// each pass.
func overwrite(conditions *[]Condition, before []Condition, c Condition) {
	meta.SetStatusCondition(conditions, c)
	set := meta.FindStatusCondition(*conditions, c.Type)
	set.LastTransitionTime = c.LastTransitionTime
	if was := meta.FindStatusCondition(before, c.Type); was != nil && was.Status == c.Status {
		set.LastTransitionTime = was.LastTransitionTime
	}
}

// withOwnConditions returns a copy of an owner, which must be Conditioned, whose conditions can be changed. The rest is
// shared with the one given, so that an owner with a large spec costs no more than a small one.
func withOwnConditions[T client.Object](owner T) T {
	after := newOwner[T]()
	reflect.ValueOf(after).Elem().Set(reflect.ValueOf(owner).Elem())
	theirs, ours := any(owner).(Conditioned).Conditions(), any(after).(Conditioned).Conditions()
	if ours == theirs { // they are behind a pointer
		return owner.DeepCopyObject().(T)
	}
	*ours = slices.Clone(*theirs)
	return after
}

// isReport reports whether a condition says what reported makes it say. These reasons are the builder's own.
func isReport(c *Condition) bool {
	if c == nil {
		return false
	}
	switch c.Reason {
	case events.ReasonApplyFailed, events.ReasonNotOwned, events.ReasonContested, events.ReasonInvalidPlan, events.ReasonQuarantined:
		return true
	}
	return false
}

func hasReport(conditions []Condition) bool {
	return isReport(meta.FindStatusCondition(conditions, ConditionReady)) ||
		isReport(meta.FindStatusCondition(conditions, ConditionStalled))
}

// dropReport removes a condition that an earlier pass reported and the plan has left as it is.
func dropReport(conditions *[]Condition, kind string) {
	if isReport(meta.FindStatusCondition(*conditions, kind)) {
		meta.RemoveStatusCondition(conditions, kind)
	}
}
