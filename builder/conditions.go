package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Reasons of the conditions that [Result.SetConditions] sets. An error's reason is that of its event:
// [events.ReasonApplyFailed] or [events.ReasonNotOwned].
const (
	// ReasonReady: all children are as wanted, and ready if that is looked at.
	ReasonReady = "Ready"
	// ReasonWaiting: the plan waits for what the message names (Plan.WaitingFor), or an object of a child's name has yet to
	// be gone.
	ReasonWaiting = "Waiting"
	// ReasonNotReady: all children are applied, and some of them on their way.
	ReasonNotReady = "ChildrenNotReady"
	// ReasonChildFailed: a child won't become ready before someone changes something.
	ReasonChildFailed = "ChildFailed"
	// ReasonRollingOut: a phase isn't ready, and later ones wait for it.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutHalted: a child of a phase has failed, or takes too long (see FailurePolicy); later phases are paused.
	ReasonRolloutHalted = events.ReasonRolloutHalted
	// ReasonRolledBack: what is wanted did not become ready in time; the children are what they were before.
	ReasonRolledBack = events.ReasonRolledBack
)

// outcome is how a pass ended, as conditions tell it.
type outcome struct {
	ready, progressing, stalled bool
	reason, message             string
}

// SetConditions sets the conditions Ready, Progressing and Stalled from what a pass did and the error it returned.
// Each tells of the generation, in the same words, which name what is waited for; the message has at most some 2 KiB.
// The time of a condition changes with its status only, so that the same result sets nothing anew. A conflict, after
// which the pass is tried again, changes nothing.
//
//	Ready        all children are as wanted, and ready if that was looked at (see Builder.AwaitReady)
//	Progressing  something is being changed or waited for
//	Stalled      nothing will happen until someone changes the spec or the cluster
//	Contested    another writer changes children again and again; set only then
func (r Result) SetConditions(conditions *[]Condition, generation int64, err error, now time.Time) {
	if isConflict(err) {
		return
	}
	o := r.outcome(err)
	for _, says := range []struct {
		kind string
		is   bool
	}{{ConditionReady, o.ready}, {ConditionProgressing, o.progressing}, {ConditionStalled, o.stalled}} {
		c := Condition{
			Type: says.kind, Status: metav1.ConditionFalse, Reason: o.reason, Message: o.message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		}
		if says.is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(conditions, c)
	}
	r.setContested(conditions, generation, now)
}

// outcome says in one sentence how a pass ended.
func (r Result) outcome(err error) outcome {
	failed := 0
	for _, n := range r.NotReady {
		if n.Failed {
			failed++
		}
	}
	switch {
	case err != nil:
		terminal := IsTerminal(err)
		return outcome{false, !terminal, terminal, failureReason(err), summarize(err)}
	case r.Rollout != nil && r.Rollout.State == RolloutRolledBack:
		return outcome{false, len(r.NotReady)+len(r.Waiting) > 0, true, ReasonRolledBack,
			fmt.Sprintf("revision %s was rolled back to %s: %s%s", r.Rollout.To, r.Rollout.From, r.Rollout.Message, r.advice())}
	case r.RolloutFailure != nil:
		o := outcome{false, false, true, ReasonRolloutHalted, fmt.Sprintf("revision %s: %s", r.Rollout.To, r.RolloutFailure)}
		if at := r.Rollout.RollsBackAt; !at.IsZero() {
			o.progressing, o.stalled = true, false
			o.message += fmt.Sprintf("; to be rolled back to %s at %s", r.Rollout.From, at.UTC().Format(time.RFC3339))
		}
		return o
	case len(r.Contested) > 0:
		return outcome{false, false, true, events.ReasonContested, r.contestMessage()}
	case len(r.Waiting) > 0:
		return outcome{false, true, false, ReasonWaiting, listed("waiting for the deletion of ", r.Waiting, store.Key.String)}
	case r.Rollout != nil && (r.Rollout.State == RolloutProgressing || (r.Rollout.State == RolloutInstalling && r.Rollout.Phase != "")):
		slow := slices.DeleteFunc(slices.Clone(r.NotReady), func(n NotReady) bool { return n.Phase != r.Rollout.Phase })
		return outcome{false, true, false, ReasonRollingOut,
			listed(fmt.Sprintf("revision %s: phase %s: waiting for ", r.Rollout.To, r.Rollout.Phase), slow, NotReady.String)}
	case failed > 0:
		return outcome{false, failed < len(r.NotReady), true, ReasonChildFailed, listed("", r.failedFirst(), NotReady.String)}
	case len(r.WaitingFor) > 0:
		return outcome{false, true, false, ReasonWaiting, r.waitingFor()}
	case len(r.NotReady) > 0:
		return outcome{false, true, false, ReasonNotReady, listed("waiting for ", r.NotReady, NotReady.String)}
	default:
		return outcome{true, false, false, ReasonReady, "all children are as wanted"}
	}
}

// advice says what someone has to do before a rollback comes to its end, empty if nothing.
func (r Result) advice() string {
	for _, n := range r.NotReady {
		if n.advice != "" {
			return "; " + n.Key.String() + ": " + n.advice
		}
	}
	return ""
}

// failedFirst returns what isn't ready, what has failed first.
func (r Result) failedFirst() []NotReady {
	var all, rest []NotReady
	for _, n := range r.NotReady {
		if n.Failed {
			all = append(all, n)
		} else {
			rest = append(rest, n)
		}
	}
	return append(all, rest...)
}

// String names the child and says why it isn't ready: "Deployment.apps default/web: 1 of 3 replicas updated".
func (n NotReady) String() string { return n.Key.String() + ": " + n.Message }

// listed names the first few of some things, and says how many more there are.
func listed[T any](prefix string, things []T, name func(T) string) string {
	const shown = 3
	var parts []string
	for _, t := range things[:min(shown, len(things))] {
		parts = append(parts, shorten(name(t), maxSummary/(shown+1)))
	}
	if more := len(things) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return prefix + strings.Join(parts, "; ")
}

// ReportStatus writes an owner's standard conditions, as [Result.SetConditions] sets them, from what a Builder's
// Reconcile returned: in one patch, or without a request if they are so already. The owner, as the pass was given it,
// stays as it is. To write more of the status in the same patch, set all of it on a copy and use [Engine.PatchStatus]:
//
//	after := owner.DeepCopy()
//	after.Status.Replicas = n
//	res.SetConditions(after.Conditions(), owner.Generation, err, time.Now())
//	err = engine.PatchStatus(ctx, owner, after)
//
// An owner that is gone or being deleted is not written to. A conflict is returned, as from PatchStatus.
func (e *Engine) ReportStatus(ctx context.Context, owner Conditioned, res Result, err error) error {
	if isNil(owner) {
		return fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	after, ok := owner.DeepCopyObject().(Conditioned)
	if !ok {
		return fmt.Errorf("%w: a copy of %T has no conditions", ErrMisuse, owner)
	}
	res.SetConditions(after.Conditions(), owner.GetGeneration(), err, e.now())
	patchErr := e.PatchStatus(ctx, owner, after)
	if apierrors.IsNotFound(patchErr) {
		return e.explainNotFound(ctx, owner)
	}
	return patchErr
}

// statusAfter returns an owner with the status that it should have after a pass.
func statusAfter[T client.Object](owner T, plan Plan[T], res Result, err error, now time.Time) (T, error) {
	if !plan.Report || owner.GetDeletionTimestamp() != nil {
		after := withContests(owner, reported(owner, plan.Status, err, now), res, err, now)
		if plan.Finish != nil && err == nil && len(res.Contested) == 0 {
			after = withOwnConditions(after)
			plan.Finish(after, res)
		}
		return after, nil
	}
	after := plan.Status
	if isNil(after) {
		after = owner
	}
	if _, ok := any(after).(Conditioned); !ok {
		return owner, fmt.Errorf("%w: Plan.Report needs an owner with conditions; %T is no builder.Conditioned", ErrMisuse, owner)
	}
	after = withOwnConditions(after)
	res.SetConditions(any(after).(Conditioned).Conditions(), owner.GetGeneration(), err, now)
	if plan.Finish != nil {
		plan.Finish(after, res)
	}
	return after, nil
}
