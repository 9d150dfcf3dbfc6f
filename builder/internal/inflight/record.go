package inflight

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	runningFile  = "running"
	suspectsFile = "suspects"

	// firstDelay is how long the owner of a pass during which the process ended once isn't looked at. It is short: most
	// suspects only ran beside the one that did it.
	firstDelay = 10 * time.Second
	// delayFactor is how much longer that is after each further time,
	delayFactor = 6
	// maxDelay at most.
	maxDelay = time.Hour
	// watchedFor is how long a suspect runs beside no other one after its pass has ended well.
	watchedFor = time.Hour
	// retryBeside is when a suspect asks again that would run beside another one.
	retryBeside = time.Second
)

// Pass is a pass of a controller over an owner.
type Pass struct {
	Controller, Namespace, Name, UID string
}

// Record is the record of one process. It is safe for concurrent use.
type Record struct {
	dir     string
	running *os.File
	now     func() time.Time

	mu       sync.Mutex
	free     []int // slots below used
	used     int
	suspects map[Pass]*suspect
	beside   bool // a suspect's pass runs
	failed   error
	report   func(error) // nil: nothing is reported
}

// Open reads what the process before has left in a directory, which is made if it isn't there. No other process may use it.
func Open(dir string, now func() time.Time) (*Record, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for the record of running passes: %w", err)
	}
	r := &Record{dir: dir, now: now, suspects: map[Pass]*suspect{}}
	if err := r.readSuspects(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, runningFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the record of running passes: %w", err)
	}
	r.running = file
	left, err := readSlots(file)
	if err == nil {
		r.suspect(left)
		err = r.writeSuspects() // first: what is counted twice does no harm, what isn't counted does
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("take over the record of running passes: %w", err)
	}
	return r, nil
}

// Close says that the process ends of its own accord, so that the passes that still run are suspected of nothing.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil // what can't be written from now on isn't needed
	err := r.running.Truncate(0)
	if closing := r.running.Close(); err == nil {
		err = closing
	}
	return err
}

// Hold says why a pass isn't to run now.
type Hold struct {
	// Until is when it may.
	Until time.Time
	// Ends is how many processes have ended during a pass of this owner, and Last when that was seen. Ends is 0 if the pass
	// only has to wait for that of another suspect.
	Ends int
	Last time.Time
}

// Running is a pass that is on record. The zero value is one of no record.
type Running struct {
	record  *Record
	slot    int
	suspect *suspect
}

// Begin puts a pass on record, or says why it isn't to run now.
func (r *Record) Begin(p Pass) (Running, *Hold) {
	running, hold := r.reserve(p)
	if hold == nil {
		r.note(writeSlot(r.running, running.slot, p))
	}
	return running, hold
}

func (r *Record) reserve(p Pass) (Running, *Hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.suspects[p]
	if s != nil {
		if hold := r.hold(s); hold != nil {
			return Running{}, hold
		}
		r.beside = true
	}
	running := Running{record: r, slot: r.used, suspect: s}
	if n := len(r.free); n > 0 {
		running.slot, r.free = r.free[n-1], r.free[:n-1]
	} else {
		r.used++
	}
	return running, nil
}

// End takes a pass off the record.
func (p Running) End() {
	r := p.record
	if r == nil {
		return
	}
	r.note(clearSlot(r.running, p.slot))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, p.slot)
	if p.suspect != nil {
		r.beside = false
		r.clear(p.suspect)
	}
}

// note keeps the first error. A record that can't be written holds up no pass.
func (r *Record) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(err)
}

// fail keeps and reports the first error. The caller has the lock.
func (r *Record) fail(err error) {
	if r.failed != nil {
		return
	}
	r.failed = err
	if r.report != nil {
		r.report(err)
	}
}

// ReportTo sets what is called with the first error in writing the record: once, and now if there was one already.
func (r *Record) ReportTo(report func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = report
	if r.failed != nil {
		report(r.failed)
	}
}
