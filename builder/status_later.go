package builder

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
		l.statusWrites.UpToDate(owner.GetUID())
	}
	if err != nil || same {
		return 0, nil, err
	}
	if plan.StatusCanWait > 0 && !plan.DeleteOwner && (doErr == nil || isConflict(doErr)) {
		if left := l.statusWrites.Left(owner.GetUID(), plan.StatusCanWait, l.now()); left > 0 {
			return left, nil, nil
		}
	}
	written, err = l.engine.patchStatus(ctx, owner, after)
	if apierrors.IsNotFound(err) {
		return 0, nil, l.engine.explainNotFound(ctx, owner)
	}
	if written != nil {
		l.statusWrites.Wrote(owner.GetUID(), l.now())
	}
	return 0, written, err
}
