package events

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Reasons of the events that the builder itself emits. Those of failures and of roll-outs are reasons of its conditions,
// too. Operators add their own, in UpperCamelCase.
const (
	// ReasonCreated: children were created.
	ReasonCreated = "Created"
	// ReasonAdopted: objects without a controller have become children.
	ReasonAdopted = "Adopted"
	// ReasonUpdated: children differed from the desired ones and were updated.
	ReasonUpdated = "Updated"
	// ReasonRecreating: children differ in immutable fields; the builder deleted them, and creates them again as
	// desired.
	ReasonRecreating = "Recreating"
	// ReasonKept: children differ in immutable fields, and stay unchanged.
	ReasonKept = "Kept"
	// ReasonDriftCorrected: another writer had set fields of a child that the API server doesn't accept beside the
	// desired ones; the builder removed them. The note names them and their field manager.
	ReasonDriftCorrected = "DriftCorrected"
	// ReasonDryRunRefused: the API server refused the dry run that shows what a new object would be, and the changed child was
	// applied without it; values that the API server derived from other fields may be out of date.
	ReasonDryRunRefused = "DryRunRefused"
	// ReasonDeleted: children that are no longer desired were deleted.
	ReasonDeleted = "Deleted"
	// ReasonNotOwned: an object of a child's name exists and belongs to another owner; the builder left it alone.
	ReasonNotOwned = "NotOwned"
	// ReasonFieldsLeft: a child keeps fields that aren't desired, because another field manager has set them, or because the API server
	// lets no one remove them.
	ReasonFieldsLeft = "FieldsLeft"
	// ReasonApplyFailed: the API server refuses a child until the owner or the cluster changes.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonContested: another writer changes children repeatedly; the builder restores them with an exponential
	// backoff.
	ReasonContested = "Contested"
	// ReasonSettled: the other writer has stopped.
	ReasonSettled = "Settled"
	// ReasonInvalidPlan: the operator's program has an error: its plan can't be carried out, changes its arguments, or isn't pure.
	ReasonInvalidPlan = "InvalidPlan"
	// ReasonObservationFailed: the operator can't observe what its plan needs: the state outside of the cluster, or objects that it has no
	// permission to read.
	ReasonObservationFailed = "ObservationFailed"
	// ReasonQuarantined: the manager ended unexpectedly while it worked on the owner, and postpones the owner.
	ReasonQuarantined = "Quarantined"
	// ReasonPausedByAnnotation means that a user has paused the owner by the annotation armature.dev/paused.
	ReasonPausedByAnnotation = "PausedByAnnotation"
	// ReasonStateKept means that the state of children before the last disruptive change is kept, so that it can be undone.
	ReasonStateKept = "StateKept"
	// ReasonUndone: a user has asked for an undo, and the children have their former state again.
	ReasonUndone = "Undone"
	// ReasonUndoFailed: the children can't return to their former state.
	ReasonUndoFailed = "UndoFailed"
	// ReasonWaitingForTurn: a new build of the operator would disrupt the owner, which waits until other owners are ready.
	ReasonWaitingForTurn = "WaitingForTurn"
	// ReasonReleasing: it is the owner's turn, and the new build's disruptive changes are applied.
	ReasonReleasing = "Releasing"
	// ReasonReleased: the owner is ready after its turn.
	ReasonReleased = "Released"
	// ReasonChangedByUser: the owner needs no turn, because a user has changed its spec.
	ReasonChangedByUser = "ChangedByUser"
	// ReasonRolloutStarted: the desired children of the phases have changed, and are applied phase by phase.
	ReasonRolloutStarted = "RolloutStarted"
	// ReasonRolloutCompleted: all phases are up to date and ready.
	ReasonRolloutCompleted = "RolloutCompleted"
	// ReasonRolloutHalted: a child of a phase has failed, or exceeded its time; later phases stay unchanged. Of a roll-out owner by
	// owner: the owner has failed, or isn't ready in time; other owners wait.
	ReasonRolloutHalted = "RolloutHalted"
	// ReasonRanOnce: a Job that runs once has succeeded, and its success is recorded.
	ReasonRanOnce = "RanOnce"
	// ReasonEffectPending: an external effect is to be performed or undone. Only conditions have it.
	ReasonEffectPending = "EffectPending"
	// ReasonEffectPerformed: an external effect was performed.
	ReasonEffectPerformed = "EffectPerformed"
	// ReasonEffectFailed: the performer of an external effect has returned an error; the builder tries again.
	ReasonEffectFailed = "EffectFailed"
	// ReasonEffectDrifted: the state outside of the cluster differs from an effect that was performed; it is performed again.
	ReasonEffectDrifted = "EffectDrifted"
	// ReasonEffectUndone: an external effect that is no longer desired was undone.
	ReasonEffectUndone = "EffectUndone"
	// ReasonEffectRetained: an external effect is no longer desired, and stays, because the plan has said so.
	ReasonEffectRetained = "EffectRetained"
	// ReasonEffectAbandoned: an external effect is no longer desired, and was not undone, because a user has asked for that.
	ReasonEffectAbandoned = "EffectAbandoned"
	// ReasonRolledBack: a roll-out did not become ready in time; the children return to the last completed revision.
	ReasonRolledBack = "RolledBack"
)

// Types of the conditions that every owner can have. kubectl wait and kstatus understand the first three.
const (
	// ConditionReady is True when everything that the spec asks for exists and is ready. When it is False, its reason says why.
	ConditionReady = "Ready"
	// ConditionProgressing is True while the operator changes something or waits for something.
	ConditionProgressing = "Progressing"
	// ConditionStalled is True when nothing more happens until someone changes the spec or the cluster.
	ConditionStalled = "Stalled"
	// ConditionContested is True while another writer changes children repeatedly, and the builder restores them with an exponential
	// backoff. Its message names the fields, the field managers that changed them, and the action to take. It is set only then.
	ConditionContested = "Contested"
	// ConditionPaused is True while the annotation armature.dev/paused stops the operator's passes over the owner. The other conditions
	// and the rest of the status are those of the last pass. It is set only then.
	ConditionPaused = "Paused"
	// ConditionUndoable is True after the builder has kept the state of children before a disruptive change (see package undo). Its
	// message is the name of the ControllerRevision. It records in the status, where only the operator writes, what an undo restores.
	ConditionUndoable = "Undoable"
	// ConditionUndone is True after the children have returned to the state that the annotation armature.dev/undo names, which is its
	// message then. It is False, with what is wrong, before. It is set only while the annotation is.
	ConditionUndone = "Undone"
	// ConditionReleased says how the owner stands in the roll-out of a new build of the operator (see package release): False while its
	// disruptive changes wait for the owner's turn, Unknown during the turn, True afterwards. Its message begins with the name of the
	// roll-out. An owner that a roll-out doesn't disrupt doesn't have it.
	ConditionReleased = "Released"
	// ConditionRolledOut is True after a revision of the owner's phases was completed. Its message is the name of the last completed one.
	// It records which revision a rollback restores, in the status, where only the operator writes. An owner without phases doesn't have
	// it.
	ConditionRolledOut = "RolledOut"
)

// Reasons of conditions that the builder sets, beside those above.
const (
	// ReasonReady: all children are up to date, and ready if that is checked.
	ReasonReady = "Ready"
	// ReasonWaiting: the plan waits for the object in the message, or an earlier object of a child's name is still being
	// deleted. An event reports the start of the wait.
	ReasonWaiting = "Waiting"
	// ReasonChildrenNotReady: all children are applied, and some aren't ready yet.
	ReasonChildrenNotReady = "ChildrenNotReady"
	// ReasonChildFailed: a child can't become ready until a user changes the spec or the cluster.
	ReasonChildFailed = "ChildFailed"
	// ReasonRollingOut: a phase isn't ready, and later ones wait for it.
	ReasonRollingOut = "RollingOut"
)

// Actions are the machine-readable counterpart of a reason that events.k8s.io requires: the activity of the controller.
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
	// Action is the controller's activity. Empty means ActionReconcile.
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

// About returns a copy of the event with the given child as its related object.
func (e Event) About(child runtime.Object) Event {
	e.Related = child
	return e
}
