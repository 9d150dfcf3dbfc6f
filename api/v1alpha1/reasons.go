package v1alpha1

// ConditionSuspended is True while spec.suspend suspends a batch.
const ConditionSuspended = "Suspended"

// Reasons of conditions and events that several kinds have.
const (
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonResumed: spec.suspend is no longer true.
	ReasonResumed = "Resumed"
	// ReasonQueued: a FluxJob waits for jobs before it in its queue, or Kueue hasn't admitted a MiniCluster.
	ReasonQueued = "Queued"
	// ReasonRetried: failed parts run again, because spec.retry was increased.
	ReasonRetried = "Retried"
	// ReasonDeadlineExceeded: the batch was active for longer than its deadline allows.
	ReasonDeadlineExceeded = "DeadlineExceeded"
)
