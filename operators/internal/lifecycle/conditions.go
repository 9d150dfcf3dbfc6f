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

// Set sets a condition, and cuts a message that is too long for a status.
func (c Conditions) Set(kind string, status metav1.ConditionStatus, reason, text string) {
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message.Shorten(text),
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// SetBool sets a condition to True or False.
func (c Conditions) SetBool(kind string, holds bool, reason, text string) {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	c.Set(kind, status, reason, text)
}

// Remove removes a condition, but only if it has one of the reasons; without reasons, whatever it has. An operator removes
// Stalled with the reasons that it sets itself, because the builder sets and removes Stalled, too.
func (c Conditions) Remove(kind string, reasons ...string) {
	found := meta.FindStatusCondition(*c.list, kind)
	if found != nil && (len(reasons) == 0 || slices.Contains(reasons, found.Reason)) {
		meta.RemoveStatusCondition(c.list, kind)
	}
}

// ConditionIn returns a condition in a list; an empty one if there is none.
func ConditionIn(list []metav1.Condition, kind string) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(list, kind), metav1.Condition{})
}

// Find returns a condition; nil if there is none.
func (c Conditions) Find(kind string) *metav1.Condition {
	return meta.FindStatusCondition(*c.list, kind)
}

// IsTrue reports whether a condition is True.
func (c Conditions) IsTrue(kind string) bool { return meta.IsStatusConditionTrue(*c.list, kind) }

// Terminate sets the condition Ready of an object that is being deleted.
func (c Conditions) Terminate(kind string) {
	c.Set(events.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating, "the "+kind+" is being deleted")
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
	if end := c.Find(v1alpha1.ConditionSucceeded); end != nil && end.Status == metav1.ConditionTrue {
		c.Set(events.ConditionReady, metav1.ConditionTrue, end.Reason, end.Message)
	}
	if end := c.Find(v1alpha1.ConditionFailed); end != nil && end.Status == metav1.ConditionTrue {
		reason, text := end.Reason, end.Message // setting a condition may move the list
		c.Set(events.ConditionReady, metav1.ConditionFalse, reason, text)
		c.Set(events.ConditionStalled, metav1.ConditionTrue, reason, text)
	}
}

// IsTransition reports whether a condition was added, removed, or changed in its status, reason or observed generation. A change
// of messages alone is none: messages contain counts, and a status that differs only in counts may be written later.
func IsTransition(before, after []metav1.Condition) bool {
	if len(before) != len(after) {
		return true
	}
	return slices.ContainsFunc(after, func(c metav1.Condition) bool {
		b := meta.FindStatusCondition(before, c.Type)
		return b == nil || b.Status != c.Status || b.Reason != c.Reason || b.ObservedGeneration != c.ObservedGeneration
	})
}
