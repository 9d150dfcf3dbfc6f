package builder

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// turnPoll is how often an owner that waits asks for its turn.
const turnPoll = 10 * time.Second

// turn is an owner's part in the roll-out of a new build during one pass. Nil: it has none.
type turn struct {
	mark   turns.Mark // what the owner's condition says after the pass
	begins bool       // the pass grants the turn: the next one changes the children
	over   bool       // the owner needs no turn any more
}

// postpones reports whether the pass must not change the children.
func (t *turn) postpones() bool { return t != nil && (t.begins || t.mark.IsWaiting()) }

// isIn reports whether the owner is in its turn.
func (t *turn) isIn() bool { return t != nil && t.mark.IsInTurn() }

// releases returns the operator's turns, nil without a roll-out of new builds. An owner without conditions never waits, because its
// turn would have no record.
func (o *Operator[T]) releases(r *reconciler[T]) *turns.Turns {
	if _, conditioned := any(newOwner[T]()).(Conditioned); o.turns == nil || !conditioned {
		return nil
	}
	r.turnSums = telemetry.NewTurns(r.engine.name)
	return turns.New(*o.turns, turns.Operator{
		Name: o.name, Owner: r.owner.GVK, Client: r.engine.client, Live: r.engine.live, Now: func() time.Time { return r.now() },
		List:       func(ctx context.Context) ([]client.Object, error) { return r.engine.cached().List(ctx, r.owner, nil) },
		Conditions: func(owner client.Object) []metav1.Condition { return *owner.(Conditioned).Conditions() },
	})
}

// takeTurn returns an owner's part in the roll-out of a new build. If a dry pass shows that the plan is disruptive, it asks for the
// owner's turn.
func (r *reconciler[T]) takeTurn(ctx context.Context, p *operatorPass[T]) (*turn, error) {
	if p.plan.DeleteOwner {
		return nil, nil
	}
	if err := r.turns.Open(ctx); err != nil {
		return nil, err
	}
	standing := r.turns.Standing(p.owner)
	if standing == turns.Free {
		return nil, nil
	}
	mark := turns.MarkOf(*p.owner.(Conditioned).Conditions())
	is := turns.Mark{ID: r.turns.ID(), Since: mark.Since}
	switch {
	case standing == turns.InTurn:
		r.turns.Begin(p.owner)
		return &turn{mark: mark}, nil
	case p.planErr != nil:
		return nil, nil
	case standing == turns.ChangedByUser && mark.IsInTurn(): // of an earlier roll-out: it isn't ready since
		is.Reason = events.ReasonReleasing
		return &turn{mark: is}, nil
	case standing == turns.ChangedByUser:
		is.Reason = events.ReasonChangedByUser
		return &turn{mark: is, over: true}, nil
	}
	why, known := r.turns.Disruption(p.owner)
	if !known {
		var err error
		if why, err = r.disruption(ctx, p.pass); err != nil {
			return nil, err
		}
	}
	if why == "" {
		if mark.IsInTurn() {
			is.Reason = events.ReasonReleasing
			return &turn{mark: is}, nil
		}
		if mark.IsWaiting() {
			mark = turns.Mark{}
		}
		return &turn{mark: mark, over: true}, nil
	}
	granted, err := r.turns.Ask(ctx, p.owner, why)
	if err != nil {
		return nil, err
	}
	if granted {
		is.Reason = events.ReasonReleasing
		return &turn{mark: is, begins: true}, nil
	}
	is.Reason, is.Why = events.ReasonWaitingForTurn, why
	return &turn{mark: is}, nil
}

// disruption returns what the plan of a pass would disrupt, as a preview says it; empty for nothing. It runs a dry pass on what the pass
// has observed. It leaves out the plan's own edits and deletions, which answer to an observed state, and drift, which another writer
// has caused: an operator does both whatever its build is.
func (r *reconciler[T]) disruption(ctx context.Context, p *pass) (string, error) {
	dry, err := r.engine.dryRun().newPass(p.owner)
	if err != nil {
		return "", err
	}
	dry.observed, dry.listed, dry.listedCrossNamespace = maps.Clone(p.observed), maps.Clone(p.listed), maps.Clone(p.listedCrossNamespace)
	dry.dryWrites = map[store.Key]*apply.Write{}
	dry.instructions = p.instructions
	dry.edits, dry.deletes = nil, nil
	err = dry.carryOut(ctx)
	if errors.Is(err, errOwnerGone) {
		return "", nil
	}
	res := dry.finish(err)
	if fieldsErr := addFields(res, dry.dryWrites); fieldsErr != nil {
		return "", fieldsErr
	}
	var all []string
	for _, c := range res.Changes {
		fields := make([]disruption.Field, len(c.Fields))
		for i, f := range c.Fields {
			fields[i] = disruption.Field{Path: f.Path, Old: f.Old, New: f.New}
		}
		if what := disruption.Of(c.Key.Group, c.Reason, fields); what != "" && !c.Drift {
			all = append(all, c.Key.String()+" "+what)
		}
	}
	switch {
	case len(all) > 0:
		return text.List("", all, strings.Clone), nil
	case err != nil && strings.Contains(err.Error(), "dry run"): // of an admission webhook that allows none
		return "unknown, because no dry run is possible: " + summarize(err), nil
	case err != nil && !IsTerminal(err):
		return "", err
	default:
		return "", nil // the pass itself has the same error
	}
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
	was, t := turns.MarkOf(*any(owner).(Conditioned).Conditions()), p.result.turn
	p.err = r.engine.writeChangedStatus(ctx, owner, r.withTurn(owner, owner, Result{turn: t}, nil))
	if p.err != nil {
		return r.next(ctx, turnPoll, p.err)
	}
	r.emitTurn(owner, was, t)
	r.countTurn(p.ownerKey, t.mark)
	if t.begins {
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	return reconcile.Result{RequeueAfter: turnPoll}, nil
}

// withTurn returns an owner whose conditions say how it stands in the roll-out of a new build. It changes neither argument.
func (r *reconciler[T]) withTurn(owner, after T, res Result, err error) T {
	conditioned, ok := any(after).(Conditioned)
	if !ok {
		return after
	}
	is := turns.MarkOf(*any(owner).(Conditioned).Conditions())
	switch {
	case res.turn != nil && res.turn.isIn() && !res.turn.begins:
		res.turn.advance(res, *conditioned.Conditions(), err, r.turns.ReadyWithin, r.now())
		is = res.turn.mark
	case res.turn != nil:
		is = res.turn.mark
	case is.IsWaiting(), r.turns == nil && is.IsInTurn(): // no longer
		is = turns.Mark{}
	}
	return withMark(owner, after, is, r.now())
}

// withMark returns an owner whose conditions have a mark. It changes neither argument.
func withMark[T client.Object](owner, after T, is turns.Mark, now time.Time) T {
	conditioned, ok := any(after).(Conditioned)
	if !ok || turns.MarkOf(*conditioned.Conditions()) == is {
		return after
	}
	after = withOwnConditions(after)
	is.Set(any(after).(Conditioned).Conditions(), owner.GetGeneration(), now)
	return after
}

// advance decides, after a pass in the owner's turn, whether the turn is over, and whether it halts the roll-out. The owner is ready if
// nothing was left to change, all children are ready, and the condition Ready, if there is one, is True.
func (t *turn) advance(res Result, conditions []metav1.Condition, err error, within time.Duration, now time.Time) {
	why, failed := "", false
	ready := meta.FindStatusCondition(conditions, events.ConditionReady)
	switch {
	case isConflict(err):
		return
	case err != nil:
		why, failed = summarize(err), IsTerminal(err)
	case len(res.Pending) > 0:
		worst := res.Pending[0]
		if all := res.pending(events.ReasonRolloutHalted, events.ReasonChildFailed); len(all) > 0 {
			worst, failed = all[0], true
		}
		why = worst.String()
	case len(res.Changes) > 0:
		why = "its children have just changed"
	case ready != nil && ready.Status != metav1.ConditionTrue:
		why, failed = "it isn't ready: "+ready.Message, meta.IsStatusConditionTrue(conditions, events.ConditionStalled)
	default:
		t.mark = turns.Mark{Reason: events.ReasonReleased, ID: t.mark.ID}
		t.over = true
		return
	}
	t.mark.Reason, t.mark.Why = events.ReasonReleasing, ""
	if failed || !t.mark.Since.IsZero() && now.Sub(t.mark.Since) >= within {
		t.mark.Reason, t.mark.Why = events.ReasonRolloutHalted, text.Shorten(why, text.MaxMessage)
	}
}

// endTurn notes, after the status is written, how an owner's turn has ended. It returns when the turn must be looked at again.
func (r *reconciler[T]) endTurn(ctx context.Context, p *operatorPass[T], owner T) (time.Duration, error) {
	t := p.result.turn
	if t == nil {
		r.countTurn(p.ownerKey, turns.Mark{})
		return 0, nil
	}
	r.emitTurn(owner, turns.MarkOf(*any(owner).(Conditioned).Conditions()), t)
	r.countTurn(p.ownerKey, t.mark)
	if t.over {
		return 0, r.turns.Settle(ctx, p.ownerKey.NamespacedName())
	}
	if t.mark.Reason == events.ReasonReleasing {
		return max(t.mark.Since.Add(r.turns.ReadyWithin).Sub(r.now()), conflictDelay), nil
	}
	return 0, nil
}

// emitTurn emits an event when an owner begins to wait, begins its turn, ends it, or halts the roll-out.
func (r *reconciler[T]) emitTurn(owner T, was turns.Mark, t *turn) {
	if t.mark.Reason == was.Reason && t.mark.ID == was.ID {
		return
	}
	switch t.mark.Reason {
	case events.ReasonWaitingForTurn:
		r.engine.emit(owner, events.Normal(t.mark.Reason, "a new build of the operator disrupts this object: "+t.mark.Why+
			"; it waits for its turn in the roll-out "+t.mark.ID))
	case events.ReasonReleasing:
		r.engine.emit(owner, events.Normal(t.mark.Reason, "its turn in the roll-out "+t.mark.ID+" begins"))
	case events.ReasonReleased:
		r.engine.emit(owner, events.Normal(t.mark.Reason, "ready after its turn in the roll-out "+t.mark.ID))
	case events.ReasonRolloutHalted:
		r.engine.emit(owner, events.Warning(t.mark.Reason, "other objects wait in the roll-out "+t.mark.ID+": "+t.mark.Why))
	}
}

func (r *reconciler[T]) countTurn(owner store.Key, m turns.Mark) {
	r.turnSums.Set(owner, m.IsWaiting(), m.IsInTurn(), m.Reason == events.ReasonRolloutHalted)
}
