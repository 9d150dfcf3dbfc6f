package builder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/errorlist"
	"github.com/armature-dev/armature/internal/text"
)

const (
	// turnPoll is how often an owner that waits asks for its turn.
	turnPoll = 10 * time.Second
	// unplannedPoll is how often an owner asks that has no plan. Each time the same error is logged.
	unplannedPoll = time.Minute
	// haltedPoll is how often an owner that halts the roll-out reads whether a user has resumed or aborted it.
	haltedPoll = time.Minute
)

// releases returns the operator's turns, nil without a roll-out of new builds. An owner without conditions never waits, because its
// turn would have no record.
func (o *Operator[T]) releases(r *reconciler[T]) *turns.Turns {
	if _, conditioned := any(newOwner[T]()).(Conditioned); o.turns == nil || !conditioned {
		return nil
	}
	return turns.New(*o.turns, turns.Operator{
		Name: o.name, Owner: r.owner.GVK, Client: r.engine.client, Live: r.engine.live, Now: func() time.Time { return r.now() },
		List:       func(ctx context.Context) ([]client.Object, error) { return r.engine.cached().List(ctx, r.owner, nil) },
		Conditions: func(owner client.Object) []metav1.Condition { return *owner.(Conditioned).Conditions() },
	})
}

// takeTurn returns an owner's part in the roll-out of a new build.
func (r *reconciler[T]) takeTurn(ctx context.Context, p *operatorPass[T]) (*turns.Turn, error) {
	if p.plan.DeleteOwner {
		return nil, nil
	}
	return r.turns.Take(ctx, p.owner, turns.Outlook{
		IsValid:    p.planErr == nil,
		HasEnded:   func() bool { return hasEnded(p.plan.Status, p.owner) },
		Disruption: func(ctx context.Context) (string, error) { return r.disruption(ctx, p.pass) },
	})
}

// hasEnded reports whether an owner runs to an end and has reached it: after the pass its status has a completionTime, and a condition
// Complete, Succeeded or Failed that is True, as that of a Job. A completionTime alone may be that of a backup.
func hasEnded[T client.Object](planned T, owner client.Object) bool {
	after := owner
	if !kinds.IsNil(planned) {
		after = planned
	}
	conditions := *after.(Conditioned).Conditions()
	if !slices.ContainsFunc([]string{"Complete", "Succeeded", "Failed"}, func(end string) bool {
		return meta.IsStatusConditionTrue(conditions, end)
	}) {
		return false
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return false
	}
	ended, found, err := unstructured.NestedString(content, "status", "completionTime")
	return found && err == nil && ended != ""
}

// waitsForTurn returns, for a preview, an owner that the running program holds; nil if it doesn't.
func waitsForTurn(p *pass) *ChildStatus {
	owner, ok := p.owner.(Conditioned)
	if !ok {
		return nil
	}
	if mark := turns.MarkOf(*owner.Conditions()); mark.IsWaiting() {
		return &ChildStatus{Key: p.ownerKey, Reason: events.ReasonWaitingForTurn, Message: "waits for its turn in the roll-out " + mark.ID}
	}
	return nil
}

// awaitTurn reports that an owner waits for its turn, or that its turn begins. It runs instead of the rest of a pass.
func (r *reconciler[T]) awaitTurn(ctx context.Context, p *operatorPass[T], owner T) (reconcile.Result, error) {
	t := p.result.turn
	p.err = r.engine.writeChangedStatus(ctx, owner, withConditions(owner, func(conditions *[]metav1.Condition) {
		status.RemoveUnplanned(conditions)
		t.Mark.Set(conditions, owner.GetGeneration(), r.now())
	}))
	if p.err != nil {
		return r.next(ctx, owner, turnPoll, p.err)
	}
	r.emitTurn(owner, t)
	if t.Begins {
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	return reconcile.Result{RequeueAfter: turnPoll}, nil
}

// withRecords returns an owner after a pass with the conditions that are records of the builder, whatever the plan sets: how it stands in
// the roll-out of a new build, and the name of its former state.
func (r *reconciler[T]) withRecords(owner, after T, res Result, err error) T {
	return withConditions(after, func(conditions *[]metav1.Condition) {
		r.markAfter(owner, res, *conditions, err).Set(conditions, owner.GetGeneration(), r.now())
		former.KeepName(conditions, *any(owner).(Conditioned).Conditions())
	})
}

// markAfter returns how an owner stands in the roll-out of a new build after a pass that leaves it with these conditions. It ends the
// owner's turn, or halts the roll-out, if the pass says so.
func (r *reconciler[T]) markAfter(owner T, res Result, conditions []metav1.Condition, err error) turns.Mark {
	is := turns.MarkOf(*any(owner).(Conditioned).Conditions())
	switch {
	case res.turn != nil:
		if res.turn.IsIn() && !res.turn.Begins && !res.turn.AsksAgain && !isConflict(err) {
			res.turn.Advance(progressOf(res, conditions, err), r.turns.ReadyWithin, r.now())
		}
		return res.turn.Mark
	case is.IsWaiting(), r.turns == nil && is.IsInTurn(): // no longer
		return turns.Mark{}
	default:
		return is
	}
}

// progressOf returns what a pass in the owner's turn has come to. The owner is ready if nothing was left to change, all children are
// ready, and the condition Ready, if there is one, is True.
func progressOf(res Result, conditions []metav1.Condition, err error) turns.Progress {
	ready := meta.FindStatusCondition(conditions, events.ConditionReady)
	switch {
	case err != nil:
		return turns.Progress{Why: summarize(err), Failed: IsTerminal(err)}
	case len(res.Pending) > 0:
		if failed := res.pending(events.ReasonRolloutHalted, events.ReasonChildFailed); len(failed) > 0 {
			return turns.Progress{Why: failed[0].String(), Failed: true}
		}
		return turns.Progress{Why: res.Pending[0].String()}
	case len(res.Changes) > 0:
		return turns.Progress{Why: "its children have just changed"}
	case ready != nil && ready.Status != metav1.ConditionTrue:
		return turns.Progress{
			Why: "it isn't ready: " + ready.Message, Failed: meta.IsStatusConditionTrue(conditions, events.ConditionStalled),
		}
	default:
		return turns.Progress{}
	}
}

// endTurn notes, after the status is written, how an owner's turn has ended. It returns when the turn must be checked again.
func (r *reconciler[T]) endTurn(ctx context.Context, p *operatorPass[T], owner T) (time.Duration, error) {
	t := p.result.turn
	if t == nil {
		r.turns.Count(p.ownerKey.NamespacedName(), turns.Mark{})
		return 0, nil
	}
	r.emitTurn(owner, t)
	if t.IsOver {
		return 0, r.turns.Settle(ctx, p.ownerKey.NamespacedName())
	}
	switch {
	case t.AsksAgain:
		return unplannedPoll, nil
	case t.Mark.Reason == events.ReasonReleasing:
		return max(t.Mark.Since.Add(r.turns.ReadyWithin).Sub(r.now()), conflictDelay), nil
	case t.Mark.Reason == events.ReasonRolloutHalted:
		return haltedPoll, nil
	default:
		return 0, nil
	}
}

// emitTurn emits an event when an owner's part in the roll-out changes from what the observed owner says, and counts it.
func (r *reconciler[T]) emitTurn(owner T, t *turns.Turn) {
	if ev, ok := t.Mark.Event(turns.MarkOf(*any(owner).(Conditioned).Conditions())); ok {
		r.engine.emit(owner, ev)
	}
	r.turns.Count(client.ObjectKeyFromObject(owner), t.Mark)
}

// A forecast is the dry pass that finds out what a new build disrupts. Unlike another dry pass it shows more than the next pass: the
// changes of all phases, the deletions that pruning would make at the end, and the changes of existing objects beside creates that fail.
// Otherwise an owner would be settled by its first phase, or by an error of today, and its later disruptions would need no turn.
type forecast struct {
	cluster *apply.Cluster
	waits   bool // the owner waits for its turn
	unknown bool // the dry run of a change of an existing object has failed, or was omitted after the failure of another
}

// writeAll makes the dry runs of changes before those of creates, because a create that fails, such as by a quota, stops its kind.
func (f *forecast) writeAll(ctx context.Context, writes []*apply.Write) error {
	isChange := func(w *apply.Write) bool { return w.Action == apply.Apply }
	var changes, creates []*apply.Write
	for _, w := range writes {
		if isChange(w) {
			changes = append(changes, w)
		} else {
			creates = append(creates, w)
		}
	}
	err := f.cluster.WriteAll(ctx, changes)
	if !batch.ReachesAll(err) {
		err = errors.Join(err, f.cluster.WriteAll(ctx, creates))
	}
	f.unknown = f.unknown || slices.ContainsFunc(writes, func(w *apply.Write) bool {
		return isChange(w) && w.Operation == "" && !w.KeptImmutable
	})
	return err
}

// disruption returns what the plan of a pass would disrupt, as a preview says it; empty for nothing. It runs a dry pass on what the pass
// has observed. It leaves out the plan's own edits and deletions, which answer to an observed state, and drift, which another writer
// has caused: an operator does both whatever its build is.
//
// A create that fails disrupts nothing, and the pass reports it. Only a conflict, or a failure that affects all requests, is an error.
func (r *reconciler[T]) disruption(ctx context.Context, p *pass) (string, error) {
	dry, err := r.engine.dryRun().newPass(p.owner)
	if err != nil {
		return "", err
	}
	dry.observed.CopyFrom(&p.observed)
	dry.instructions, dry.forecast = p.instructions, &forecast{cluster: &dry.cluster, waits: waitsForTurn(p) != nil}
	dry.edits, dry.deletes = nil, nil
	err = publicError(dry.carryOut(ctx))
	if errors.Is(err, apply.ErrOwnerGone) {
		return "", nil
	}
	goesOn := !dry.forecast.waits && dry.result.Rollout != nil && dry.result.Rollout.State == rollout.Progressing // as a user's change
	if !dry.pruned && !dry.rollsBack && !goesOn && failsToCreate(err) {
		err = publicError(errors.Join(err, dry.deleted(dry.pruner.Prune(ctx, dry.prunes, dry.pruneAll))))
	}
	res := dry.finish(err)
	if fieldsErr := addFields(res); fieldsErr != nil {
		return "", fieldsErr
	}
	var all []string
	for _, c := range res.Changes {
		fields := make([]delta.Change, len(c.Fields))
		for i, f := range c.Fields {
			fields[i] = delta.Change(f)
		}
		if what := disruption.Of(c.Key.Group, c.Reason, fields); what != "" && !c.Drift {
			all = append(all, c.Key.String()+" "+what)
		}
	}
	switch {
	case len(all) > 0:
		return text.List("", all, strings.Clone), nil
	case err == nil:
		return "", nil
	case strings.Contains(err.Error(), "dry run"): // of an admission webhook that allows none
		return "unknown, because no dry run is possible: " + summarize(err), nil
	case IsTerminal(err), failsToCreate(err) && !dry.forecast.unknown:
		return "", nil // the pass itself has the same error
	case batch.ReachesAll(err), slices.ContainsFunc(errorlist.Of(err), isConflict):
		return "", err
	default:
		return "unknown, because its dry run fails: " + summarize(err), nil
	}
}

// failsToCreate reports whether all errors of a pass are about children that can't be created, and a retry may help. They disrupt nothing.
func failsToCreate(err error) bool {
	return !slices.ContainsFunc(errorlist.Of(err), func(leaf error) bool {
		about, ok := errors.AsType[*Error](leaf)
		isCreate := ok && about.Operation == "create" || errors.Is(leaf, ErrNotOwned) || !kinds.MissingUntil(leaf).IsZero()
		return !isCreate || IsTerminal(leaf) || isConflict(leaf) || batch.ReachesAll(leaf)
	})
}
