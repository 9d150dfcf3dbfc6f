package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Reasons that the builder itself emits. Operators add their own, in UpperCamelCase.
const (
	// ReasonCreated: children were created.
	ReasonCreated = "Created"
	// ReasonAdopted: objects that no one controlled have become children.
	ReasonAdopted = "Adopted"
	// ReasonUpdated: children differed from what is wanted and were brought back.
	ReasonUpdated = "Updated"
	// ReasonRecreating: children can't be changed into what is wanted, and were deleted to be created anew.
	ReasonRecreating = "Recreating"
	// ReasonKept: children can't be changed into what is wanted, and are left as they are.
	ReasonKept = "Kept"
	// ReasonDriftCorrected: another writer had set fields of a child beside which the API server refuses the desired ones;
	// they were removed. The note says which, and which field manager had set them.
	ReasonDriftCorrected = "DriftCorrected"
	// ReasonDryRunRefused: a changed child was applied without a look at what a new object would be, since the dry run that
	// tells was refused; values that the API server derived from other fields may be out of date.
	ReasonDryRunRefused = "DryRunRefused"
	// ReasonDeleted: children that are no longer wanted were deleted.
	ReasonDeleted = "Deleted"
	// ReasonNotOwned: an object of a wanted name exists and belongs to someone else; it was left alone.
	ReasonNotOwned = "NotOwned"
	// ReasonFieldsLeft: a child keeps fields that aren't desired, since another field manager has set them.
	ReasonFieldsLeft = "FieldsLeft"
	// ReasonApplyFailed: the API server refused a child for good, until the owner or the cluster changes.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonContested: another writer changes children again and again; they are put back ever more rarely.
	ReasonContested = "Contested"
	// ReasonSettled: the other writer has stopped.
	ReasonSettled = "Settled"
	// ReasonInvalidPlan: the operator's program is wrong: its plan can't be carried out, or changes what it is given.
	ReasonInvalidPlan = "InvalidPlan"
	// ReasonQuarantined: the manager ended unexpectedly while it worked on the owner, which is put off.
	ReasonQuarantined = "Quarantined"
	// ReasonRolloutStarted: children in phases are wanted otherwise, and are changed phase by phase.
	ReasonRolloutStarted = "RolloutStarted"
	// ReasonRolloutCompleted: all phases are as wanted, and ready.
	ReasonRolloutCompleted = "RolloutCompleted"
	// ReasonRolloutHalted: a child of a phase has failed, or takes too long; later phases are left as they are.
	ReasonRolloutHalted = "RolloutHalted"
	// ReasonRanOnce: a Job that runs once has succeeded, which is on record.
	ReasonRanOnce = "RanOnce"
	// ReasonRolledBack: a roll-out did not become ready in time; the children return to what they were before.
	ReasonRolledBack = "RolledBack"
)

// Actions, the machine-readable counterpart of a reason that events.k8s.io asks for: what the controller was doing.
const (
	ActionApply     = "Apply"
	ActionPrune     = "Prune"
	ActionReconcile = "Reconcile"
)

// Event is one thing that happened to an owner.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning. Empty means Normal.
	Type string
	// Reason is why, one UpperCamelCase word.
	Reason string
	// Action is what was being done. Empty means ActionReconcile.
	Action string
	// Note is the sentence people read; Emit cuts it at the 1024 bytes that the API server takes.
	Note string
	// Related is the child that the event is about, nil when there isn't one.
	Related runtime.Object
}

// Normal is an event that says all is well.
func Normal(reason, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Note: note}
}

// Warning is an event that someone should look at.
func Warning(reason, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Note: note}
}

// About sets the child that the event is about.
func (e Event) About(child runtime.Object) Event {
	e.Related = child
	return e
}
