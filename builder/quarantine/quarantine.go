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
