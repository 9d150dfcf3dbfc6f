package lifecycle

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

// Conditions are the conditions of one object in one pass. Whatever is set gets the object's generation, and the pass's time if
// its status changes.
type Conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        metav1.Time
}

// ConditionsOf returns the conditions in a list, which is that of the object's new status.
func ConditionsOf(list *[]metav1.Condition, generation int64, now metav1.Time) Conditions {
	return Conditions{list: list, generation: generation, now: now}
}

// Set sets a condition to True or False, and cuts a message that is too long for a status.
func (c Conditions) Set(kind string, holds bool, reason, text string) {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message.Shorten(text),
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// Remove removes a condition, but only if it has one of the reasons; without reasons, whatever it has. An operator removes
// Stalled with the reasons that it sets itself, because the builder sets and removes Stalled, too.
func (c Conditions) Remove(kind string, reasons ...string) {
	if len(reasons) == 0 || slices.Contains(reasons, c.Find(kind).Reason) {
		meta.RemoveStatusCondition(c.list, kind)
	}
}

// Condition returns a condition in a list; an empty one if there is none.
func Condition(list []metav1.Condition, kind string) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(list, kind), metav1.Condition{})
}

// Find returns a condition; an empty one if there is none.
func (c Conditions) Find(kind string) metav1.Condition { return Condition(*c.list, kind) }

// IsTrue reports whether a condition is True.
func (c Conditions) IsTrue(kind string) bool { return meta.IsStatusConditionTrue(*c.list, kind) }

// Terminate sets the condition Ready of an object that is being deleted.
func (c Conditions) Terminate(kind string) {
	c.Set(events.ConditionReady, false, v1alpha1.ReasonTerminating, "the "+kind+" is being deleted")
}

// Stall sets the conditions Ready and Stalled of an object for which nothing happens until someone acts.
func (c Conditions) Stall(reason, text string) {
	c.Set(events.ConditionReady, false, reason, text)
	c.Set(events.ConditionStalled, true, reason, text)
}

// RemoveInvalid removes what an invalid spec had set: the conditions Stalled and Failed. It also removes Stalled with the other reasons
// with which the operator sets it.
func (c Conditions) RemoveInvalid(others ...string) {
	c.Remove(events.ConditionStalled, append(others, v1alpha1.ReasonInvalidSpec)...)
	c.Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
}

// Observe sets the observed generation of all conditions. An operator that evaluates every condition in each pass calls it once they
// are set.
func (c Conditions) Observe() {
	for i := range *c.list {
		(*c.list)[i].ObservedGeneration = c.generation
	}
}

// Conclude sets the conditions Ready and Stalled of an object that has ended to what its condition Succeeded or Failed says, and
// the observed generation of all conditions: an end doesn't depend on the spec any more.
// Call it in each pass after the end: a pass that fails, or whose children are contested, overwrites both, and afterwards the
// builder only removes what it wrote. Ready and Stalled of an object that hasn't ended stay as they are.
func (c Conditions) Conclude() {
	c.Observe()
	if end := c.Find(v1alpha1.ConditionSucceeded); end.Status == metav1.ConditionTrue {
		c.Set(events.ConditionReady, true, end.Reason, end.Message)
	}
	if end := c.Find(v1alpha1.ConditionFailed); end.Status == metav1.ConditionTrue {
		c.Stall(end.Reason, end.Message)
	}
}
