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

	// firstDelay is the delay of an owner's next pass after the process ended once during its pass. It is short, because most suspects
	// only ran beside the cause.
	firstDelay = 10 * time.Second
	// delayFactor multiplies the delay after each further time.
	delayFactor = 6
	// maxDelay limits the delay.
	maxDelay = time.Hour
	// watchedFor is how long a suspect still runs beside no other one after its pass has ended well.
	watchedFor = time.Hour
	// retryBeside is the delay of a suspect that would run beside another one.
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

// Open reads the record of the last process in a directory, and creates the directory if needed. No other process may use it.
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
		err = r.writeSuspects() // first: counting a pass twice does no harm, not counting it does
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

// Close records that the process ends as intended, so that the running passes make no suspects.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil // later write errors don't matter
	err := r.running.Truncate(0)
	if closing := r.running.Close(); err == nil {
		err = closing
	}
	return err
}

// Hold is the reason why a pass must wait. As an error it is for the owner of a suspect.
type Hold struct {
	// Until is the end of the wait.
	Until time.Time
	// Ends is the number of processes that ended during a pass of this owner, and Last when that was last observed. Ends is 0 if the pass
	// only waits for another suspect's.
	Ends int
	Last time.Time
}

// Error returns what has happened, and what someone can do.
func (h *Hold) Error() string {
	times := "once"
	if h.Ends > 1 {
		times = fmt.Sprintf("%d times", h.Ends)
	}
	return fmt.Sprintf("the manager ended unexpectedly %s while it worked on this object, last before %s; it is tried again at %s. "+
		"If it happens again, make the object smaller or delete it, or give the manager more memory",
		times, h.Last.UTC().Format(time.RFC3339), h.Until.UTC().Format(time.RFC3339))
}

// Running is a recorded pass. The zero value has no record.
type Running struct {
	record  *Record
	slot    int
	suspect *suspect
}

// Begin records a pass, or returns why it must wait.
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

// End removes a pass from the record. Its owner is cleared: it has done no harm. Only the first call of End and Leave has an effect.
func (p *Running) End() { p.remove(true) }

// Leave removes a pass that is postponed before its plan. That clears no owner.
func (p *Running) Leave() { p.remove(false) }

func (p *Running) remove(clears bool) {
	r := p.record
	if r == nil {
		return
	}
	p.record = nil
	r.note(clearSlot(r.running, p.slot))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, p.slot)
	if p.suspect != nil {
		r.beside = false
		if clears {
			r.clear(p.suspect)
		}
	}
}

// note keeps the first error. A write error of the record delays no pass.
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

// ReportTo sets the function that receives the first write error of the record: once, and at once if there was one already.
func (r *Record) ReportTo(report func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = report
	if r.failed != nil {
		report(r.failed)
	}
}
