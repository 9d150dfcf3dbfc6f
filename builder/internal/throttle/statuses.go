package throttle

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
)

// settling is the part of the time that a status can wait by which every change is delayed, however long ago the last write was:
// changes come in bursts, and the reaction to the next one shouldn't wait for a status write.
const settling = 4

// Statuses debounces status writes. It remembers when each owner's status was written last, and since when a change of it waits. The
// status of an owner that it doesn't know is written at once.
type Statuses struct {
	written *lru.Cache[types.UID, statusWrite] // by owner
}

type statusWrite struct {
	last    time.Time
	pending time.Time // when the change that isn't written yet was first observed; zero if there is none
}

// NewStatuses returns a debounce that knows no owner yet.
func NewStatuses() Statuses { return Statuses{newCache[types.UID, statusWrite]()} }

// Wrote notes a write.
func (s Statuses) Wrote(owner types.UID, now time.Time) { s.written.Add(owner, statusWrite{last: now}) }

// UpToDate notes that there is nothing to write.
func (s Statuses) UpToDate(owner types.UID) {
	if known, ok := s.written.Get(owner); ok && !known.pending.IsZero() {
		s.Wrote(owner, known.last)
	}
}

// Left returns how long a changed status can still wait that can wait for a time after the last write; 0 if it is due.
func (s Statuses) Left(owner types.UID, canWait time.Duration, now time.Time) time.Duration {
	w, ok := s.written.Get(owner)
	if !ok {
		return 0
	}
	if w.pending.IsZero() {
		w.pending = now
		s.written.Add(owner, w)
	}
	left := max(w.last.Add(canWait).Sub(now), w.pending.Add(canWait/settling).Sub(now), 0)
	return min(left, canWait) // a clock that was set back doesn't prolong it
}
