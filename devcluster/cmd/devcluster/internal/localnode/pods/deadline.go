package pods

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// deadline is a moment that may come nearer while others wait for it.
type deadline struct {
	clock clock.WithTicker
	outer *deadline // nil, or another deadline that ends a wait, too

	mu      sync.Mutex
	at      time.Time // zero for never
	changed chan struct{}
}

func newDeadline(c clock.WithTicker) *deadline {
	return &deadline{clock: c, changed: make(chan struct{})}
}

// after makes a deadline that lies d ahead.
func after(c clock.WithTicker, d time.Duration) *deadline {
	dl := newDeadline(c)
	dl.shorten(c.Now().Add(d))
	return dl
}

// within makes the waits for d end with outer, too. It is called before the first wait.
func (d *deadline) within(outer *deadline) *deadline {
	d.outer = outer
	return d
}

func (d *deadline) shorten(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || at.Before(d.at) {
		d.set(at)
	}
}

// atLeast moves a deadline that is nearer than rest to that.
func (d *deadline) atLeast(rest time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if least := d.clock.Now().Add(rest); d.at.Before(least) {
		d.set(least)
	}
}

func (d *deadline) set(at time.Time) {
	d.at = at
	close(d.changed)
	d.changed = make(chan struct{})
}

// wait returns true when done is closed, false when the deadline comes first.
func (d *deadline) wait(done <-chan struct{}) bool {
	for {
		at, changed := d.get()
		var outerChanged <-chan struct{}
		if d.outer != nil {
			var outerAt time.Time
			outerAt, outerChanged = d.outer.get()
			at = earlier(at, outerAt)
		}
		var due <-chan time.Time
		if !at.IsZero() {
			rest := at.Sub(d.clock.Now())
			if rest <= 0 {
				return isClosed(done)
			}
			due = d.clock.After(rest)
			if !d.clock.Now().Before(at) { // it was set forward before the timer began
				continue
			}
		}
		select {
		case <-done:
			return true
		case <-changed:
		case <-outerChanged:
		case <-due: // look again: it may have been moved
		}
	}
}

func (d *deadline) get() (at time.Time, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at, d.changed
}

// earlier returns the earlier of two moments, of which zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
