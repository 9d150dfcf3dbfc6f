package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/prune"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// The last step of a pass reports it: the events of the writes, then the status, then the events of the plan.

// emitResult emits the events of a pass: one for each operation and kind, however many objects there are, and one for a failure,
// unless it is the last one reported for the scope. The scope is empty, or names a single call of a Builder's CRUD methods. A conflict
// isn't reported, because the pass is tried again, unless it persists.
func (e *Engine) emitResult(owner client.Object, scope string, res Result, err error) {
	if e.dry {
		return
	}
	e.emitChanges(owner, res.Changes)
	e.emitChanges(owner, res.keptImmutable)
	e.emitContests(owner, res.begun, res.ended)
	e.emitFailure(owner, scope, err, !isConflict(err) || e.conflictPersists(owner))
}

// emitStatusFailure emits an event about a status that can't be written until the program or the CRD changes, or because of a conflict
// that persists, because no condition can report it.
func (e *Engine) emitStatusFailure(owner client.Object, err error) {
	e.emitFailure(owner, "status", err, IsTerminal(err) || isConflict(err) && e.conflictPersists(owner))
}

// conflictPersists reports whether the last passes over an owner have all ended with a conflict.
func (e *Engine) conflictPersists(owner client.Object) bool {
	row, _ := e.memory.Conflicts.Get(owner.GetUID())
	return row >= maxConflicts
}

// emitFailure emits an event about an error that is reported, unless it is the last one reported for the scope. That the manager stops is
// no failure of the owner.
func (e *Engine) emitFailure(owner client.Object, scope string, err error, isReported bool) {
	key := memory.Call{Owner: owner.GetUID(), Scope: scope}
	if err == nil {
		e.memory.Failures.Forget(key)
	} else if isReported && !isStop(err) {
		if ev := failureEvent(err); e.memory.Failures.IsNew(key, ev) {
			e.emit(owner, ev)
		}
	}
}

func (e *Engine) emitChanges(owner client.Object, changes []Change) {
	for start := 0; start < len(changes); {
		end := start + 1
		first := changes[start]
		for end < len(changes) && changes[end].Reason == first.Reason && changes[end].Key.GroupKind() == first.Key.GroupKind() {
			end++
		}
		e.emit(owner, changeEvent(changes[start:end]))
		for _, change := range changes[start:end] {
			if len(change.fieldsLeft) > 0 {
				e.emit(owner, leftEvent(change))
			}
		}
		start = end
	}
}

// emit writes an event about an owner.
func (e *Engine) emit(owner client.Object, ev events.Event) {
	events.Emit(e.recorder, owner, ev)
}

// countWaiting records the number of objects that a pass waits for, and of contested children, as metrics.
func (p *pass) countWaiting(scope string, res Result) {
	if p.engine.dry {
		return
	}
	p.engine.waiting.Set(p.ownerKey, scope, len(res.waiting()))
	p.engine.contested.Set(p.ownerKey, scope, len(res.contested()))
}

// writeStatus writes the plan's status, with what the builder reports in it. An owner that is gone needs no status. It returns how long
// the write is postponed, 0 if it isn't, and the owner as the API server stored it, nil if nothing was written.
func (r *reconciler[T]) writeStatus(
	ctx context.Context, owner T, plan Plan[T], res Result, doErr error, now time.Time,
) (delay time.Duration, written client.Object, err error) {
	var after T
	var witnesses []plancheck.Witness
	if r.guard.Copies && plan.Finish != nil {
		witnesses, _ = r.guard.Before(owner, func(func(client.Object) bool) {})
	}
	finishErr := withoutPanic(ctx, "Plan.Finish", func() { after, err = statusAfter(owner, plan, res, doErr, now) })
	if finishErr = errors.Join(finishErr, r.checkWitnesses(ctx, owner, witnesses)); finishErr != nil {
		plan.Finish, doErr = nil, errors.Join(doErr, finishErr)
		_, written, err = r.writeStatus(ctx, owner, plan, res, doErr, now) // the status reports the panic
		return 0, written, errors.Join(finishErr, err)
	}
	if err != nil {
		return 0, nil, err
	}
	after = r.withRecords(owner, after, res, doErr)
	same, err := status.Same(owner, after)
	if same {
		r.statusWrites.UpToDate(owner.GetUID())
	}
	if err != nil || same {
		return 0, nil, err
	}
	if plan.StatusCanWait > 0 && !plan.DeleteOwner && res.turn == nil && (doErr == nil || isConflict(doErr)) {
		if delay := r.statusWrites.Delay(owner.GetUID(), plan.StatusCanWait, r.now()); delay > 0 {
			return delay, nil, nil
		}
	}
	written, err = r.engine.patchStatus(ctx, owner, after)
	if written != nil {
		r.statusWrites.Wrote(owner.GetUID(), r.now())
	}
	return 0, written, err
}

// statusAfter returns an owner with the status that it should have after a pass. With Report the builder sets the standard conditions.
// Without it, or if the owner is being deleted, it overrides the plan's conditions. Plan.Finish comes last.
func statusAfter[T client.Object](owner T, plan Plan[T], res Result, err error, now time.Time) (T, error) {
	reports := plan.Report && owner.GetDeletionTimestamp() == nil
	after := plan.Status
	if kinds.IsNil(after) {
		after = owner
	}
	if _, ok := any(after).(Conditioned); !ok && reports {
		return owner, fmt.Errorf("%w: Plan.Report needs an owner with conditions; %T is no builder.Conditioned", ErrMisuse, owner)
	}
	after = withConditions(after, func(conditions *[]metav1.Condition) {
		if reports {
			res.setConditions(conditions, owner.GetGeneration(), err, now)
		} else {
			res.overrideConditions(conditions, owner, err, now)
		}
	})
	if plan.Finish != nil && (reports || err == nil && len(res.contested()) == 0) {
		after = withOwnConditions(after)
		plan.Finish(after, res)
	}
	return after, nil
}

// overrideConditions sets, beside the conditions of a plan that sets all of them itself, what the builder reports: a failure of the pass,
// contested children, the completed revision, and the effects that a deletion waits for.
func (r Result) overrideConditions(conditions *[]metav1.Condition, owner client.Object, err error, now time.Time) {
	was, generation := *owner.(Conditioned).Conditions(), owner.GetGeneration()
	switch {
	case isConflict(err): // the pass is tried again
	case err != nil:
		failure := status.Failure{Reason: failureReason(err), Message: summarize(err), Terminal: IsTerminal(err)}
		failure.Report(conditions, was, generation, now)
	default:
		status.RemoveReport(conditions)
	}
	r.overrideContested(conditions, was, generation, err, now)
	phases.KeepRolledOut(conditions, was, r.completedRevision(), generation, now)
	meta.RemoveStatusCondition(conditions, events.ConditionPaused)
	meta.RemoveStatusCondition(conditions, events.ConditionUndone)
	if owner.GetDeletionTimestamp() != nil && len(r.pending(events.ReasonEffectPending, events.ReasonEffectFailed)) > 0 {
		r.outcome(nil).Set(conditions, generation, now)
	}
}

// setConditions sets the standard conditions from the result of a pass and its error, as [Engine.ReportStatus] documents them.
func (r Result) setConditions(conditions *[]metav1.Condition, generation int64, err error, now time.Time) {
	if isConflict(err) { // the pass is tried again; what it has completed stays so
		phases.SetRolledOut(conditions, r.completedRevision(), generation, now)
		return
	}
	status.SetIf(conditions, r.paused,
		status.Condition(events.ConditionPaused, true, events.ReasonPausedByAnnotation, pausedMessage, generation, now))
	former.SetUndone(conditions, r.undone, generation, now)
	if r.paused {
		return
	}
	r.outcome(err).Set(conditions, generation, now)
	r.setContested(conditions, generation, now)
	phases.SetRolledOut(conditions, r.completedRevision(), generation, now)
}

// outcome returns the end of a pass in one sentence. If there are several causes, it reports the most urgent one.
func (r Result) outcome(err error) status.Outcome {
	failed, notReady := r.pending(events.ReasonChildFailed), r.notReady()
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
	case len(failed) > 0:
		return status.Outcome{Progressing: len(failed) < len(notReady), Stalled: true, Reason: events.ReasonChildFailed,
			Message: text.List("", append(failed, r.pending(events.ReasonChildrenNotReady)...), ChildStatus.String)}
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

// withConditions returns an owner whose conditions are changed; the argument itself if nothing changes, or if it has no conditions. It
// doesn't change the argument.
func withConditions[T client.Object](owner T, change func(*[]metav1.Condition)) T {
	conditioned, ok := any(owner).(Conditioned)
	if !ok {
		return owner
	}
	conditions := slices.Clone(*conditioned.Conditions())
	change(&conditions)
	if slices.Equal(conditions, *conditioned.Conditions()) {
		return owner
	}
	after := withOwnConditions(owner)
	*any(after).(Conditioned).Conditions() = conditions
	return after
}

// withOwnConditions returns a copy of an owner, which must be Conditioned, with its own conditions. It shares the rest with the
// argument, so that an owner with a large spec costs the same as a small one.
func withOwnConditions[T client.Object](owner T) T {
	after := newOwner[T]()
	reflect.ValueOf(after).Elem().Set(reflect.ValueOf(owner).Elem())
	theirs, ours := any(owner).(Conditioned).Conditions(), any(after).(Conditioned).Conditions()
	if ours == theirs { // the conditions are behind a pointer
		return owner.DeepCopyObject().(T)
	}
	*ours = slices.Clone(*theirs)
	return after
}

// patchStatus writes a status that differs. It returns the object as the API server stored it, nil if there was nothing to write or the
// owner is gone.
func (e *Engine) patchStatus(ctx context.Context, before, after client.Object) (client.Object, error) {
	k, err := e.kinds.Of(after)
	if err != nil {
		return nil, err
	}
	patch, err := status.Patch(e.inventoryOf(before).ResourceVersion, before, after)
	if err != nil || patch == nil {
		return nil, err
	}
	key := k.Key(before)
	obj, err := e.kinds.Named(k, key)
	if err != nil {
		return nil, err
	}
	err = e.client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(e.name))
	switch {
	case apierrors.IsNotFound(err):
		return nil, e.explainNotFound(ctx, before)
	case err != nil:
		return nil, &Error{Key: key, Operation: "write status of", cause: err, object: before}
	}
	return obj, nil
}

// explainNotFound returns the cause of a failed status write: nil if the owner is deleted, because it then needs no status, otherwise
// an error, because its kind has no status subresource. The API server returns the same answer for both.
func (e *Engine) explainNotFound(ctx context.Context, owner client.Object) error {
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	found, err := sources.Reader{From: e.live, Kinds: e.kinds}.Get(ctx, k, k.Key(owner))
	switch {
	case err != nil && !apierrors.IsNotFound(err): // also for a missing kind
		return &Error{Key: k.Key(owner), Operation: "read", cause: err}
	case found == nil || found.GetUID() != owner.GetUID():
		return nil
	}
	return fmt.Errorf("%w: %s has no status subresource; the CRD must enable it", ErrMisuse, k.GVK.GroupKind())
}

// ReportStatus writes the status of an owner from a reconciler of your own. after is the owner, or a copy of it with other changes of
// the status. ReportStatus sets the standard conditions in it, and makes one patch with only the difference between the owner's status
// and that of after, or no request if there is none. It changes neither argument:
//
//	after := owner.DeepCopy()
//	after.Status.Replicas = n
//	err = engine.ReportStatus(ctx, owner, after, res, err)
//
// It sets the conditions from the result of a Builder's Reconcile and its error. They have the owner's generation, the same reason (one
// of package events) and the same message of at most about 2 KiB, which names the objects that the pass waits for. A condition's time
// changes only with its status, so that the same result changes nothing. A conflict changes only RolledOut, because the pass is retried.
//
//	Ready        all children are up to date and ready
//	Progressing  the builder changes something or waits for something
//	Stalled      nothing changes until someone changes the spec or the cluster
//	Contested    another writer changes children repeatedly; set only then
//	Paused       someone has paused the owner; set only then, and the other conditions stay as they are
//	Undone       someone has undone the last disruptive change; set only then, beside Paused
//	RolledOut    with phases, after the first completed revision; the message names the last completed one
//
// It doesn't write to an owner that is deleted or terminating. If the object has changed since owner was read, it returns a conflict,
// and the next pass observes the change.
func (e *Engine) ReportStatus(ctx context.Context, owner, after Conditioned, res Result, err error) error {
	if kinds.IsNil(owner) || kinds.IsNil(after) {
		return fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	if err := plancheck.CheckStatus("the new status", owner, after); err != nil {
		return err
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	reported, ok := after.DeepCopyObject().(Conditioned)
	if !ok {
		return fmt.Errorf("%w: a copy of %T has no conditions", ErrMisuse, after)
	}
	res.setConditions(reported.Conditions(), owner.GetGeneration(), err, e.now())
	return e.writeChangedStatus(ctx, owner, reported)
}

// writeChangedStatus writes the status of after, a changed copy of before. If both are equal it makes no request. It changes neither
// argument.
func (e *Engine) writeChangedStatus(ctx context.Context, before, after client.Object) error {
	same, err := status.Same(before, after)
	if err != nil || same {
		return err
	}
	_, err = e.patchStatus(ctx, before, after)
	return err
}

// changeEvent returns the event about changes of one kind and operation.
func changeEvent(changes []Change) events.Event {
	const shown = 3
	first := changes[0]
	ev := events.Event{Type: corev1.EventTypeNormal, Reason: first.Reason, Action: events.ActionApply, Related: first.object}
	if first.Reason == events.ReasonDeleted {
		ev.Action = events.ActionPrune
	}
	if len(changes) == 1 {
		ev.Note = fmt.Sprintf("%s %s %s", first.Reason, first.Key.Kind, first.Key.Name)
		return ev
	}
	var names []string
	for _, c := range changes[:min(shown, len(changes))] {
		names = append(names, c.Key.Name)
	}
	ev.Note = fmt.Sprintf("%s %d objects of kind %s: %s", first.Reason, len(changes), first.Key.Kind, strings.Join(names, ", "))
	if more := len(changes) - shown; more > 0 {
		ev.Note += fmt.Sprintf(" and %d more", more)
	}
	return ev
}

// failureEvent returns the event about an error.
func failureEvent(err error) events.Event {
	ev := events.Warning(failureReason(err), summarize(err))
	ev.Action = events.ActionApply
	if cause := (*Error)(nil); errors.As(err, &cause) && cause.object != nil {
		ev.Related = cause.object
	}
	return ev
}

// failureReason returns the reason of an error in events and conditions.
func failureReason(err error) string {
	switch {
	case errors.Is(err, ErrMisuse):
		return events.ReasonInvalidPlan
	case errors.Is(err, ErrNotOwned):
		return events.ReasonNotOwned
	case errors.As(err, new(*inflight.Hold)):
		return events.ReasonQuarantined
	case errors.As(err, new(observationFailed)), errors.As(err, new(unobserved)):
		return events.ReasonObservationFailed
	default:
		return events.ReasonApplyFailed
	}
}

// emitWaiting emits an event when a plan begins to wait, or waits for something else. It compares with the owner's condition Ready, so
// that a restart of the process repeats no event.
func (r *reconciler[T]) emitWaiting(owner T, res Result, err error) {
	conditioned, ok := any(owner).(Conditioned)
	if !ok || err != nil || len(res.planWaitsFor) == 0 || client.Object(owner).GetDeletionTimestamp() != nil {
		return
	}
	message := res.waitingMessage()
	if res.outcome(nil).Message != message {
		return // a more urgent event
	}
	before := meta.FindStatusCondition(*conditioned.Conditions(), events.ConditionReady)
	if before == nil || before.Reason != events.ReasonWaiting || before.Message != message {
		r.engine.emit(owner, events.Normal(events.ReasonWaiting, message))
	}
}

// emitCorrections emits an event about the fields that the builder removed from a child so that the API server accepts the desired
// state, and about fields that may also need removal.
func (p *pass) emitCorrections(w *apply.Write) {
	if p.engine.dry {
		return
	}
	if w.Untried != nil && w.Operation != "" {
		ev := events.Warning(events.ReasonDryRunRefused, fmt.Sprintf(
			"Applied %s %s without resetting the values that the API server derived from changed fields: the trial of a new object was refused: %s",
			w.Desired.Key.Kind, w.Desired.Key.Name, text.Shorten(w.Untried.Error(), text.MaxSummary/8)))
		ev.Action, ev.Related = events.ActionApply, w.Stored
		p.engine.emit(p.owner, ev)
	}
	if len(w.Corrected) == 0 {
		return
	}
	removed := text.List("", w.Corrected, func(c fieldmanager.Removal) string {
		return fmt.Sprintf("%s, set by the field manager %q", c.Path, c.Manager)
	})
	p.engine.emit(p.owner, events.Event{
		Type: corev1.EventTypeNormal, Reason: events.ReasonDriftCorrected, Action: events.ActionApply, Related: w.Observed,
		Note: fmt.Sprintf("Put %s %s back: removed %s, which the API server refuses beside the desired fields",
			w.Desired.Key.Kind, w.Desired.Key.Name, removed),
	})
}

// leftEvent returns the event about fields that stay in an object, and how to remove them. It is one for all field managers, because
// client-go merges two of them about the same object.
func leftEvent(c Change) events.Event {
	var notes []string
	for _, left := range c.fieldsLeft {
		notes = append(notes, leftNote(left, c.Reason))
	}
	note := fmt.Sprintf("%s %s keeps %s", c.Key.Kind, c.Key.Name, strings.Join(notes, "; and "))
	ev := events.Warning(events.ReasonFieldsLeft, note)
	ev.Action = events.ActionApply
	return ev.About(c.object)
}

// leftNote names the fields of one manager, and says how to remove them.
func leftNote(l apply.FieldsLeft, reason string) string {
	const most = 6
	shown := l.Fields[:min(most, len(l.Fields))]
	fields := strings.Join(shown, ", ")
	if more := len(l.Fields) - most; more > 0 {
		fields += fmt.Sprintf(" and %d more", more)
	}
	if l.Manager == "" {
		return fields + ", which the API server lets no one remove from an existing object: desire it as it is, or delete the object"
	}
	owned := "OwnedOnly: true, "
	if reason == events.ReasonAdopted {
		owned = ""
	}
	return fmt.Sprintf("%s, which aren't desired: field manager %s has set them. If that is a former version of this program, give the "+
		"child builder.Adopt(builder.AdoptOptions{%sFormerManagers: []string{%q}}), and they go", fields, l.Manager, owned, l.Manager)
}

// copiesEvent returns the event about objects that have the marks of the owner's cross-namespace children, and aren't its children.
func copiesEvent(copies []client.Object) events.Event {
	const prefix = "Left what only looks like a child of this owner: "
	return events.Warning(events.ReasonNotOwned, text.List(prefix, copies, func(obj client.Object) string {
		key := store.KeyOf(obj.GetObjectKind().GroupVersionKind(), obj.GetNamespace(), obj.GetName())
		return fmt.Sprintf("%s, marked by %s", key, marks.LabelSetter(obj, wellknown.LabelOwnerUID))
	}))
}

// contestMessage names the contested children.
func (r Result) contestMessage() string { return text.List("", r.contested(), ChildStatus.String) }

// setContested sets or removes the condition Contested.
func (r Result) setContested(conditions *[]metav1.Condition, generation int64, now time.Time) {
	status.SetIf(conditions, len(r.contested()) > 0,
		status.Condition(events.ConditionContested, true, events.ReasonContested, r.contestMessage(), generation, now))
}

// emitContests emits one event about contests that begin, and one about contests that end.
func (e *Engine) emitContests(owner client.Object, begun, ended []ChildStatus) {
	if len(begun) > 0 {
		e.emit(owner, events.Event{
			Type: corev1.EventTypeWarning, Reason: events.ReasonContested, Action: events.ActionApply,
			Note: text.List("", begun, ChildStatus.String),
		})
	}
	if len(ended) > 0 {
		e.emit(owner, events.Event{
			Type: corev1.EventTypeNormal, Reason: events.ReasonSettled, Action: events.ActionApply,
			Note: text.List("no longer changed by others: ", ended, keyOfStatus),
		})
	}
}

// overrideContested reports contests beside the conditions that a plan sets. was are those of the observed owner.
func (r Result) overrideContested(conditions *[]metav1.Condition, was []metav1.Condition, generation int64, err error, now time.Time) {
	r.setContested(conditions, generation, now)
	if len(r.contested()) == 0 || err != nil && !isConflict(err) {
		return
	}
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		isStalled := kind == events.ConditionStalled
		status.Override(conditions, was, status.Condition(kind, isStalled, events.ReasonContested, r.contestMessage(), generation, now))
	}
}

// deleteOwner deletes an owner in its observed version, or in the version that the pass itself has written. written is the server's
// result of the pass's last status write, nil if the pass didn't write the status.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	present := owner.DeepCopyObject().(client.Object)
	present.SetResourceVersion(e.inventoryOf(owner).ResourceVersion)
	if written != nil {
		present.SetResourceVersion(written.GetResourceVersion())
	}
	_, err = prune.DeleteObject(ctx, e.client, k.Key(owner), present)
	err = publicError(err)
	e.emitResult(owner, "delete the owner", Result{}, err)
	return err
}
