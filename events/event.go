package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Reasons of the events that the builder itself emits. Those of failures and of roll-outs are reasons of its conditions, too.
// Operators add their own, in UpperCamelCase.
const (
	// ReasonCreated: children were created.
	ReasonCreated = "Created"
	// ReasonAdopted: objects that no one controlled have become children.
	ReasonAdopted = "Adopted"
	// ReasonUpdated: children differed from the desired ones and were updated.
	ReasonUpdated = "Updated"
	// ReasonRecreating: children differ in immutable fields; they were deleted, to be created again as desired.
	ReasonRecreating = "Recreating"
	// ReasonKept: children differ in immutable fields, and are left as they are.
	ReasonKept = "Kept"
	// ReasonDriftCorrected: another writer had set fields of a child beside which the API server refuses the desired ones;
	// they were removed. The note says which, and which field manager had set them.
	ReasonDriftCorrected = "DriftCorrected"
	// ReasonDryRunRefused: the API server refused the dry run that shows what a new object would be, and the changed child was
	// applied without it; values that the API server derived from other fields may be out of date.
	ReasonDryRunRefused = "DryRunRefused"
	// ReasonDeleted: children that are no longer desired were deleted.
	ReasonDeleted = "Deleted"
	// ReasonNotOwned: an object of a child's name exists and isn't the owner's; it was left alone.
	ReasonNotOwned = "NotOwned"
	// ReasonFieldsLeft: a child keeps fields that aren't desired, since another field manager has set them.
	ReasonFieldsLeft = "FieldsLeft"
	// ReasonApplyFailed: the API server refused a child for good, until the owner or the cluster changes.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonContested: another writer keeps changing children; the builder restores them with an exponential backoff.
	ReasonContested = "Contested"
	// ReasonSettled: the other writer has stopped.
	ReasonSettled = "Settled"
	// ReasonInvalidPlan: the operator's program is wrong: its plan can't be carried out, or changes its arguments.
	ReasonInvalidPlan = "InvalidPlan"
	// ReasonQuarantined: the manager ended unexpectedly while it worked on the owner, which is put off.
	ReasonQuarantined = "Quarantined"
	// ReasonRolloutStarted: the desired children of the phases have changed, and are applied phase by phase.
	ReasonRolloutStarted = "RolloutStarted"
	// ReasonRolloutCompleted: all phases are up to date and ready.
	ReasonRolloutCompleted = "RolloutCompleted"
	// ReasonRolloutHalted: a child of a phase has failed, or takes too long; later phases are left as they are.
	ReasonRolloutHalted = "RolloutHalted"
	// ReasonRanOnce: a Job that runs once has succeeded, and its success is on record.
	ReasonRanOnce = "RanOnce"
	// ReasonRolledBack: a roll-out did not become ready in time; the children return to the last completed revision.
	ReasonRolledBack = "RolledBack"
)

// Types of the conditions that every owner can have. kubectl wait and kstatus understand the first three.
const (
	// ConditionReady is True when all that the spec asks for is there. False says in its reason why not yet.
	ConditionReady = "Ready"
	// ConditionProgressing is True while something is being changed or waited for.
	ConditionProgressing = "Progressing"
	// ConditionStalled is True when nothing more happens until someone changes the spec or the cluster.
	ConditionStalled = "Stalled"
	// ConditionContested is True while another writer changes children again and again, and the builder restores them with an
	// exponential backoff. Its message says which fields, by whom, and what to do. It is set only then.
	ConditionContested = "Contested"
)

// Reasons of conditions that the builder sets, beside those above.
const (
	// ReasonReady: all children are up to date, and ready if that is checked.
	ReasonReady = "Ready"
	// ReasonWaiting: the plan waits for what the message names, or an earlier object of a child's name is still being deleted. An
	// event says when a plan begins to wait.
	ReasonWaiting = "Waiting"
	// ReasonChildrenNotReady: all children are applied, and some aren't ready yet.
	ReasonChildrenNotReady = "ChildrenNotReady"
	// ReasonChildFailed: a child won't become ready before someone changes something.
	ReasonChildFailed = "ChildFailed"
	// ReasonRollingOut: a phase isn't ready, and later ones wait for it.
	ReasonRollingOut = "RollingOut"
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
	// Reason is one UpperCamelCase word.
	Reason string
	// Action is what was being done. Empty means ActionReconcile.
	Action string
	// Note is the message for people. Emit cuts it at 1024 bytes, the API server's limit.
	Note string
	// Related is the child that the event is about. Default: none.
	Related runtime.Object
}

// Normal returns an event of type Normal.
func Normal(reason, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Note: note}
}

// Warning returns an event of type Warning.
func Warning(reason, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Note: note}
}

// About returns the event with the child that it is about.
func (e Event) About(child runtime.Object) Event {
	e.Related = child
	return e
}
