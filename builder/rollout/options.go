package rollout

import "time"

// Options set the order of changes, and the action when a phase doesn't become ready. The zero value is for children without phases.
//
// Set at most one of AlertAfter and RollbackAfter. The time counts for each phase, in seconds; less than a second counts as one. The
// ControllerRevision stores it, so that it also runs while the controller is down. It should be longer than a healthy phase takes.
// Without either, the roll-out waits until its phase becomes ready or the desired children change. The builder reports a child that
// has failed by its own status in any case.
type Options struct {
	// Phases are the names of the phases from first to last, each once. A child in a phase that isn't listed is builder.ErrMisuse.
	// Default: nil, no phases.
	Phases []string
	// InstallInOrder applies the phases in order at the first install, too: the builder applies a phase when all earlier ones are up to
	// date and ready. It applies children without a phase first and doesn't wait for them. Default: false, all phases at once, unless a
	// child has builder.RunOnce, which implies an order.
	InstallInOrder bool
	// AlertAfter stops a roll-out whose phase isn't ready after this time, and reports it: Result.Pending has a child that isn't ready,
	// with the reason RolloutHalted; the condition Stalled is True, and the builder emits an event. Use it for children that never fail
	// by themselves, such as a StatefulSet whose pods can't pull their image. Default: 0, no alert.
	AlertAfter time.Duration
	// RollbackAfter restores the phased children of the last completed revision if a phase isn't ready after this time. The builder
	// restores the last phase first, and doesn't wait between phases. Default: 0, no rollback.
	//
	// When all restored children are ready, the builder prunes children that the failed revision had added, if the plan prunes their
	// kinds. It never edits the owner: the conditions have the reason RolledBack, and the builder doesn't try the failed revision again
	// until the desired children change, or someone deletes its ControllerRevision. Secrets and children without a phase stay unchanged.
	// During the first install there is no earlier revision to restore. The builder stores a revision of more than about a megabyte,
	// compressed, without its children, and can't restore it; Result.Pending then reports that.
	//
	// The builder doesn't restore a Job of builder.RunOnce. A rollback waits for a running Job. It neither undoes nor repeats one that
	// ran, and names it in the condition and the event. The restored children must work with the effects of that Job. If they can't,
	// choose AlertAfter for that roll-out: the options may depend on the owner's spec.
	RollbackAfter time.Duration
	// CompletedRevision is the name of the last completed revision, as recorded in the owner's status from [Status].From; empty before
	// the first. Only that revision counts as completed and can be restored. Use it where other writers than the operator can write
	// ControllerRevisions. Default: nil, which uses the message of the owner's condition RolledOut. For an owner that isn't
	// builder.Conditioned it is the newest ControllerRevision whose annotation marks it as completed.
	CompletedRevision *string
}
