package builder

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// Quarantine puts off owners during whose passes the process has ended unexpectedly: out of memory, by a panic outside of a
// pass' own goroutine, or killed. So one owner that is too much for the program doesn't end it again at each start, before
// any other has had its turn. Such an owner's next pass runs 10 seconds after the start, 1 minute after the second time, and
// six times as long after each further one, up to 1 hour; until a while after a pass has ended well, no two such owners have
// a pass at the same time. While it waits its condition Ready is False with the reason Quarantined, and one event says so.
//
// What is known is in a directory that must survive the process, such as an emptyDir volume, which a container's restart
// leaves as it is. It costs two writes to a file a pass, some microseconds, and no sync.
type Quarantine struct{ record *inflight.Record }

// OpenQuarantine takes over what the process before has left in a directory, which is made if it isn't there. The directory is
// of this process alone. Errors are those of the file system.
func OpenQuarantine(dir string) (*Quarantine, error) {
	record, err := inflight.Open(dir, time.Now)
	if err != nil {
		return nil, err
	}
	return &Quarantine{record}, nil
}

// Close says that the process ends of its own accord, so that nothing that still runs is put off by the next one.
func (q *Quarantine) Close() error { return q.record.Close() }

// Around returns the manager for operators that are to have this quarantine: those that [NewOperator] is given it for. The manager's
// logger gets the first error in writing the record, which holds up no pass.
func (q *Quarantine) Around(mgr manager.Manager) manager.Manager {
	logger := mgr.GetLogger()
	q.record.ReportTo(func(err error) {
		logger.Error(err, "the passes that run can't be kept on record: after an unexpected end no object is put off")
	})
	return quarantining{mgr, q}
}

// quarantining is a manager whose operators have a quarantine.
type quarantining struct {
	manager.Manager
	quarantine *Quarantine
}

// quarantined is why an owner has no pass now.
type quarantined struct{ *inflight.Hold }

func (q quarantined) Error() string {
	times := "once"
	if q.Ends > 1 {
		times = fmt.Sprintf("%d times", q.Ends)
	}
	return fmt.Sprintf("the manager ended unexpectedly %s while it worked on this object, last before %s; it is tried again at %s. "+
		"If it happens again, make the object smaller or delete it, or give the manager more memory",
		times, q.Last.UTC().Format(time.RFC3339), q.Until.UTC().Format(time.RFC3339))
}

// begin puts a pass on record, or says why it isn't to run now.
func (q *Quarantine) begin(controller string, owner client.Object) (inflight.Running, *inflight.Hold) {
	if q == nil {
		return inflight.Running{}, nil
	}
	return q.record.Begin(inflight.Pass{
		Controller: controller, Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: string(owner.GetUID()),
	})
}

// putOff says on an owner that it has no pass now, and when it has.
func (l *loop[T]) putOff(ctx context.Context, owner T, hold *inflight.Hold) (reconcile.Result, error) {
	after := max(hold.Until.Sub(l.now()), conflictDelay)
	if hold.Ends == 0 { // it only waits for another one to end
		return reconcile.Result{RequeueAfter: after}, nil
	}
	why := quarantined{hold}
	log.FromContext(ctx).Info("put off", "reason", why.Error())
	l.engine.tell(owner, "", Result{}, why)
	_, _, err := l.writeStatus(ctx, owner, Plan[T]{}, Result{}, why, l.now())
	return next(ctx, after, err)
}
