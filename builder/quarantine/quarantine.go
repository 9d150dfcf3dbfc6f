// Package quarantine protects a program from one owner that ends it in each pass. Without a quarantine such an owner could end the
// program at each start, before any other owner has a pass.
//
// A quarantine delays the owners that had a pass when the process ended unexpectedly: out of memory, by a panic outside of a pass's
// own goroutine, or killed. The next pass of such an owner runs 10 seconds after the start, after the second time 1 minute, and after
// each further one six times as long, up to 1 hour. No two such owners have a pass at the same time, until some time after a pass has
// ended well. While an owner waits, its condition Ready is False with the reason Quarantined, and the builder emits one event.
//
//	q, err := quarantine.Open("/var/run/operator")
//	defer q.Close()
//	builder.NewOperator[*v1.WebApp](q.Around(mgr), "webapp")
//
// The record is in a directory that must survive the process, such as an emptyDir volume, which survives a container's restart. It
// costs two writes to a file a pass, some microseconds, and no sync.
package quarantine

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/inflight"
)

// Quarantine is the record of the running passes, and of the passes that earlier processes have not ended.
type Quarantine struct{ record *inflight.Record }

// Open opens the record of earlier processes in a directory, and creates the directory if needed. No other process may use the
// directory. It returns errors of the file system.
func Open(dir string) (*Quarantine, error) {
	record, err := inflight.Open(dir, time.Now)
	if err != nil {
		return nil, err
	}
	return &Quarantine{record}, nil
}

// Close records that the process ends as intended, so that the next process delays no owner because of a running pass.
func (q *Quarantine) Close() error { return q.record.Close() }

// Around returns a manager whose operators have this quarantine: pass it to builder.NewOperator. The manager's logger gets the first
// error of a write to the record. Such an error delays no pass.
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

// Unwrap returns the manager that has the quarantine.
func (q quarantining) Unwrap() manager.Manager { return q.Manager }

// PassesInFlight returns the record to which an operator writes its passes.
func (q quarantining) PassesInFlight() *inflight.Record { return q.record }
