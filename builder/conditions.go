package builder

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// SetConditions sets the conditions Ready, Progressing and Stalled from the result of a pass and its error. They have the given
// generation, the same reason (one of package events) and the same message of at most about 2 KiB, which names the objects that the
// pass waits for. A condition's time changes only with its status, so that the same result changes nothing. A conflict changes nothing
// either, because it is retried.
//
//	Ready        all children are up to date, and ready if the pass checked that (see Builder.AwaitReady)
//	Progressing  the builder changes something or waits for something
//	Stalled      nothing changes until someone changes the spec or the cluster
//	Contested    another writer changes children repeatedly; set only then
//	Paused       someone has paused the owner; set only then, and the other conditions stay as they are
//	Undone       someone has undone the last disruptive change; set only then, beside Paused
//	RolledOut    with phases, after the first completed revision; the message names the last completed one
func (r Result) SetConditions(conditions *[]metav1.Condition, generation int64, err error, now time.Time) {
	if isConflict(err) {
		return
	}
	r.setPaused(conditions, generation, now)
	r.setUndone(conditions, generation, now)
	if r.paused {
		return
	}
	r.outcome(err).Set(conditions, generation, now)
	r.setContested(conditions, generation, now)
	r.setRolledOut(conditions, generation, now)
}

// outcome returns the end of a pass in one sentence. If there are several causes, it reports the most urgent one.
func (r Result) outcome(err error) status.Outcome {
	failed, notReady := len(r.pending(events.ReasonChildFailed)), r.notReady()
	contested, waiting, halted := r.contested(), r.waiting(), r.rolloutFailure()
	switch {
	case err != nil:
		terminal := IsTerminal(err)
		return status.Outcome{Progressing: !terminal, Stalled: terminal, Reason: failureReason(err), Message: summarize(err)}
	case r.Rollout != nil && r.Rollout.State == rollout.RolledBack:
		return status.Outcome{Progressing: len(notReady)+len(waiting) > 0, Stalled: true, Reason: events.ReasonRolledBack,
			Message: fmt.Sprintf("revision %s was rolled back to %s: %s%s", r.Rollout.To, r.Rollout.From, r.Rollout.Message, r.advice())}
	case halted != nil:
		message := fmt.Sprintf("revision %s: phase %s: %s", r.Rollout.To, halted.Phase, halted)
		at := r.Rollout.RollsBackAt
		if at.IsZero() {
			return status.Outcome{Stalled: true, Reason: events.ReasonRolloutHalted, Message: message}
		}
		message += fmt.Sprintf("; to be rolled back to %s at %s", r.Rollout.From, at.UTC().Format(time.RFC3339))
		return status.Outcome{Progressing: true, Reason: events.ReasonRolloutHalted, Message: message}
	case len(contested) > 0:
		return status.Outcome{Stalled: true, Reason: events.ReasonContested, Message: text.List("", contested, ChildStatus.String)}
	case len(waiting) > 0:
		return status.Outcome{Progressing: true, Reason: events.ReasonWaiting,
			Message: text.List("waiting for the deletion of ", waiting, keyOfStatus)}
	case r.Rollout != nil && (r.Rollout.State == rollout.Progressing || (r.Rollout.State == rollout.Installing && r.Rollout.Phase != "")):
		slow := slices.DeleteFunc(notReady, func(n ChildStatus) bool { return n.Phase != r.Rollout.Phase })
		return status.Outcome{Progressing: true, Reason: events.ReasonRollingOut,
			Message: text.List(fmt.Sprintf("revision %s: phase %s: waiting for ", r.Rollout.To, r.Rollout.Phase), slow, ChildStatus.String)}
	case failed > 0:
		return status.Outcome{Progressing: failed < len(notReady), Stalled: true, Reason: events.ReasonChildFailed,
			Message: text.List("", r.failedFirst(), ChildStatus.String)}
	case len(r.pending(events.ReasonEffectFailed)) > 0:
		return status.Outcome{Progressing: true, Reason: events.ReasonEffectFailed,
			Message: text.List("", r.pending(events.ReasonEffectFailed), messageOfStatus)}
	case len(r.planWaitsFor) > 0:
		return status.Outcome{Progressing: true, Reason: events.ReasonWaiting, Message: r.waitingMessage()}
	case len(r.pending(events.ReasonEffectPending)) > 0:
		return status.Outcome{Progressing: true, Reason: events.ReasonEffectPending,
			Message: text.List("", r.pending(events.ReasonEffectPending), messageOfStatus)}
	case len(notReady) > 0:
		return status.Outcome{Progressing: true, Reason: events.ReasonChildrenNotReady,
			Message: text.List("waiting for ", notReady, ChildStatus.String)}
	default:
		return status.Outcome{Ready: true, Reason: events.ReasonReady, Message: "all children are up to date"}
	}
}

// advice returns what someone must do before a rollback can complete. Default: empty, nothing.
func (r Result) advice() string {
	for _, n := range r.Pending {
		if n.advice != "" {
			return "; " + n.Key.String() + ": " + n.advice
		}
	}
	return ""
}

// failedFirst returns the children that aren't ready, failed ones first.
func (r Result) failedFirst() []ChildStatus {
	return append(r.pending(events.ReasonChildFailed), r.pending(events.ReasonChildrenNotReady)...)
}

// waitingMessage returns the message of a plan that waits.
func (r Result) waitingMessage() string {
	return text.List("waiting for ", r.planWaitsFor, func(what string) string { return what })
}
