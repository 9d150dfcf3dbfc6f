package builder

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusWrites remembers of owners when their status was written last, and since when a change of it waits, for
// Plan.StatusCanWait. It is in memory, and bounded: of an owner that it doesn't know the status is written at once.
type statusWrites struct {
	of *recent[types.UID, statusWrite] // by owner
}

type statusWrite struct {
	last time.Time
	owed time.Time // when the change was seen first that isn't written yet; zero if there is none
}

// settling is the part of the time that a status can wait for which a change is left to settle, however long ago the
// last write was: changes come in bursts, and what has to be done about the next one shouldn't wait for a status.
const settling = 4

func newStatusWrites() statusWrites { return statusWrites{newRecent[types.UID, statusWrite]()} }

func (s statusWrites) note(owner types.UID, now time.Time) { s.of.Add(owner, statusWrite{last: now}) }

// upToDate notes that there is nothing to write.
func (s statusWrites) upToDate(owner types.UID) {
	if known, ok := s.of.Get(owner); ok && !known.owed.IsZero() {
		s.note(owner, known.last)
	}
}

// rest is how long a changed status that can wait so long after the last write still can; 0 if it is due.
func (s statusWrites) rest(owner types.UID, canWait time.Duration, now time.Time) time.Duration {
	w, ok := s.of.Get(owner)
	if !ok {
		return 0
	}
	if w.owed.IsZero() {
		w.owed = now
		s.of.Add(owner, w)
	}
	rest := max(w.last.Add(canWait).Sub(now), w.owed.Add(canWait/settling).Sub(now), 0)
	return min(rest, canWait) // a clock that was put back doesn't stretch it
}

// writeStatus writes what the plan says of the owner, or what went wrong. An owner that is gone needs no status. If the
// write is put off it returns for how long, and if it was made the owner as it was stored.
func (l *loop[T]) writeStatus(
	ctx context.Context, owner T, plan Plan[T], res Result, doErr error, now time.Time,
) (putOff time.Duration, written client.Object, err error) {
	after, err := statusAfter(owner, plan, res, doErr, now)
	if err != nil || client.Object(after) == client.Object(owner) {
		return 0, nil, err
	}
	same, err := sameStatus(owner, after)
	if same {
		l.statusWrites.upToDate(owner.GetUID())
	}
	if err != nil || same {
		return 0, nil, err
	}
	if plan.StatusCanWait > 0 && !plan.DeleteOwner && (doErr == nil || isConflict(doErr)) {
		if rest := l.statusWrites.rest(owner.GetUID(), plan.StatusCanWait, l.now()); rest > 0 {
			return rest, nil, nil
		}
	}
	written, err = l.engine.patchStatus(ctx, owner, after)
	if apierrors.IsNotFound(err) {
		return 0, nil, l.engine.explainNotFound(ctx, owner)
	}
	if written != nil {
		l.statusWrites.note(owner.GetUID(), l.now())
	}
	return 0, written, err
}
