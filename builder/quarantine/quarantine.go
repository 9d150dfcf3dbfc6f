// Package quarantine keeps one owner that is too much for the program from ending it again at each start, before any other owner has
// had a pass.
//
// A quarantine puts off owners during whose passes the process has ended unexpectedly: out of memory, by a panic outside of a
// pass' own goroutine, or killed. Such an owner's next pass runs 10 seconds after the start, 1 minute after the second time, and
// six times as long after each further one, up to 1 hour; until a while after a pass has ended well, no two such owners have
// a pass at the same time. While it waits its condition Ready is False with the reason Quarantined, and one event says so.
//
//	q, err := quarantine.Open("/var/run/operator")
//	defer q.Close()
//	builder.NewOperator[*v1.WebApp](q.Around(mgr), "webapp")
//
// What is known is in a directory that must survive the process, such as an emptyDir volume, which a container's restart
// leaves as it is. It costs two writes to a file a pass, some microseconds, and no sync.
package quarantine

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// Quarantine is the record of the passes that run, and of those that the processes before have not ended.
type Quarantine struct{ record *inflight.Record }

// Open takes over what the process before has left in a directory, which is made if it isn't there. The directory is
// of this process alone. Errors are those of the file system.
func Open(dir string) (*Quarantine, error) {
	record, err := inflight.Open(dir, time.Now)
	if err != nil {
		return nil, err
	}
	return &Quarantine{record}, nil
}

// Close says that the process ends of its own accord, so that nothing that still runs is put off by the next one.
func (q *Quarantine) Close() error { return q.record.Close() }

// Around returns the manager for operators that are to have this quarantine: those that builder.NewOperator is given it for. The
// manager's logger gets the first error in writing the record, which holds up no pass.
func (q *Quarantine) Around(mgr manager.Manager) manager.Manager {
	logger := mgr.GetLogger()
	q.record.ReportTo(func(err error) {
		logger.Error(err, "the passes that run can't be kept on record: after an unexpected end no object is put off")
	})
	return quarantining{mgr, q.record}
}

// quarantining is a manager whose operators have a quarantine.
type quarantining struct {
	manager.Manager
	record *inflight.Record
}

// PassesInFlight returns the record in which an operator writes its passes.
func (q quarantining) PassesInFlight() *inflight.Record { return q.record }
