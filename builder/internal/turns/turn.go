package turns

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
)

// Turn is an owner's part in a roll-out during one pass. Nil: it has none.
type Turn struct {
	// Mark is what the owner's condition says after the pass.
	Mark Mark
	// Begins reports whether the pass grants the turn: the next one changes the children.
	Begins bool
	// IsOver reports whether the owner needs no turn any more.
	IsOver bool
	// AsksAgain reports whether the owner must have another pass, because others wait for it and it has no plan.
	AsksAgain bool
}

// Postpones reports whether the pass must not change the children.
func (t *Turn) Postpones() bool { return t != nil && (t.Begins || t.Mark.IsWaiting()) }

// IsIn reports whether the owner is in its turn.
func (t *Turn) IsIn() bool { return t != nil && t.Mark.IsInTurn() }

// Outlook is what a pass would do in an owner's turn. Take calls a function only if the owner's part depends on it.
type Outlook struct {
	// IsValid reports whether the pass has a valid plan. Without one there is nothing to disrupt.
	IsValid bool
	// HasEnded reports whether the owner has ended, or ends with this pass.
	HasEnded func() bool
	// Disruption runs a dry pass and returns what the turn would disrupt; an empty string for nothing.
	Disruption func(context.Context) (string, error)
}

// Take returns an owner's part in the roll-out. The turn of an owner that goes before others begins also without a valid plan: it halts
// the roll-out if it fails or takes too long. An owner that has ended doesn't wait, because its end, its deadline and its time to live
// don't come from the build, and nothing of it runs on; one that fails in its turn halts the roll-out all the same. A terminating owner
// has no part, and no other owner waits for it, however long its finalizers keep it.
func (t *Turns) Take(ctx context.Context, owner client.Object, outlook Outlook) (*Turn, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil, t.Settle(ctx, client.ObjectKeyFromObject(owner))
	}
	standing := t.standing(owner)
	if standing == free { // also after a lost reply to the write of its mark, and a successor of the same name
		return nil, t.Settle(ctx, client.ObjectKeyFromObject(owner))
	}
	mark := MarkOf(t.operator.Conditions(owner))
	is := Mark{ID: t.id(), Since: mark.Since}
	switch {
	case standing == inTurn:
		if err := t.begin(ctx, owner, mark); err != nil {
			return nil, err
		}
		return &Turn{Mark: mark}, nil
	case !outlook.IsValid:
		goesFirst, granted, err := t.askWithoutPlan(ctx, owner)
		switch {
		case err != nil || !goesFirst:
			return nil, err
		case granted:
			return &Turn{Mark: t.beginsNow()}, nil
		case mark.IsWaiting():
			mark = Mark{}
		}
		return &Turn{Mark: mark, AsksAgain: true}, nil
	case standing == changedByUser && mark.IsInTurn(): // of an earlier roll-out: it isn't ready since
		is.Reason = events.ReasonReleasing
		return &Turn{Mark: is}, nil
	case standing == changedByUser:
		is.Reason = events.ReasonChangedByUser
		return &Turn{Mark: is, IsOver: true}, nil
	}
	why, hasEnded := "", outlook.HasEnded()
	if !hasEnded {
		known := false
		if why, known = t.disruption(owner); !known {
			var err error
			if why, err = outlook.Disruption(ctx); err != nil {
				return nil, err
			}
		}
	}
	if why == "" {
		if mark.IsInTurn() && !hasEnded {
			is.Reason = events.ReasonReleasing
			return &Turn{Mark: is}, nil
		}
		if mark.IsWaiting() || mark.IsInTurn() {
			mark = Mark{}
		}
		return &Turn{Mark: mark, IsOver: true}, nil
	}
	granted, err := t.ask(ctx, owner, why)
	if err != nil {
		return nil, err
	}
	if granted {
		is.Reason = events.ReasonReleasing
		return &Turn{Mark: is, Begins: true}, nil
	}
	is.Reason, is.Why = events.ReasonWaitingForTurn, why
	return &Turn{Mark: is}, nil
}

// Unplanned returns the part of an owner whose pass has no plan: it still waits, or is in its turn. The turn of one that goes before others
// begins.
func (t *Turns) Unplanned(ctx context.Context, owner client.Object) (*Turn, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil, t.Settle(ctx, client.ObjectKeyFromObject(owner))
	}
	mark := MarkOf(t.operator.Conditions(owner))
	isCurrent := mark.ID == t.id()
	if isCurrent && mark.IsInTurn() {
		if t.standing(owner) != inTurn {
			return &Turn{Mark: mark}, nil
		}
		return &Turn{Mark: mark}, t.begin(ctx, owner, mark)
	}
	goesFirst, granted, err := t.askWithoutPlan(ctx, owner)
	switch {
	case err != nil:
		return nil, err
	case granted:
		return &Turn{Mark: t.beginsNow()}, nil
	case isCurrent && mark.IsWaiting():
		return &Turn{Mark: mark, AsksAgain: goesFirst}, nil
	case goesFirst:
		if mark.IsWaiting() {
			mark = Mark{}
		}
		return &Turn{Mark: mark, AsksAgain: true}, nil
	default:
		return nil, nil
	}
}

// beginsNow returns the mark of a turn that begins with this pass.
func (t *Turns) beginsNow() Mark {
	return Mark{Reason: events.ReasonReleasing, ID: t.id(), Since: t.operator.Now()}
}

// Progress is what a pass in an owner's turn has come to. The zero value: the owner is ready.
type Progress struct {
	// Why is why the owner isn't ready.
	Why string
	// Failed reports whether waiting can't help.
	Failed bool
}

// Advance decides after a pass in the owner's turn whether the turn is over, and whether it halts the roll-out.
func (t *Turn) Advance(p Progress, readyWithin time.Duration, now time.Time) {
	if p == (Progress{}) {
		t.Mark = Mark{Reason: events.ReasonReleased, ID: t.Mark.ID}
		t.IsOver = true
		return
	}
	t.Mark.Reason, t.Mark.Why = events.ReasonReleasing, ""
	if p.Failed || !t.Mark.Since.IsZero() && now.Sub(t.Mark.Since) >= readyWithin {
		t.Mark.Reason, t.Mark.Why = events.ReasonRolloutHalted, text.Shorten(p.Why, text.MaxMessage)
	}
}
