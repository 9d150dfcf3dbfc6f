package inflight

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// suspect is the owner of a pass during which a process ended.
type suspect struct {
	Pass
	// Ends is the number of such processes, Last when that was last observed.
	Ends int
	Last time.Time
	// Cleared is true if a pass has ended well since.
	Cleared bool
}

// until is when a suspect's next pass may run.
func (s *suspect) until() time.Time {
	delay := firstDelay
	for n := 1; n < s.Ends && delay < maxDelay; n++ {
		delay *= delayFactor
	}
	return s.Last.Add(min(delay, maxDelay))
}

// isOver reports whether an owner is no longer a suspect.
func (s *suspect) isOver(now time.Time) bool {
	return s.Cleared && now.Sub(s.Last) > watchedFor || now.Sub(s.until()) > 24*time.Hour
}

// hold returns why a suspect's pass must wait, nil if it may run.
func (r *Record) hold(s *suspect) *Hold {
	now := r.now()
	switch until := s.until(); {
	case s.isOver(now):
		delete(r.suspects, s.Pass)
		return nil
	case !s.Cleared && now.Before(until):
		return &Hold{Until: until, Ends: s.Ends, Last: s.Last}
	case r.beside:
		return &Hold{Until: now.Add(retryBeside)}
	default:
		return nil
	}
}

// clear records that a suspect's pass has ended well.
func (r *Record) clear(s *suspect) {
	if s.Cleared {
		return
	}
	s.Cleared = true
	if err := r.writeSuspects(); err != nil {
		r.fail(err)
	}
}

// suspect makes suspects of the owners whose passes ran when the last process ended.
func (r *Record) suspect(left []Pass) {
	now := r.now()
	for p, s := range r.suspects {
		if s.Last.After(now) { // the clock was set back
			s.Last = now
		}
		if s.isOver(now) {
			delete(r.suspects, p)
		}
	}
	for _, p := range left {
		s := r.suspects[p]
		if s == nil {
			s = &suspect{Pass: p}
			r.suspects[p] = s
		}
		s.Ends, s.Last, s.Cleared = s.Ends+1, now, false
	}
	r.forgetOldest()
}

// forgetOldest keeps the file small enough for a small volume, whatever the number of processes that end over ever other owners.
func (r *Record) forgetOldest() {
	all := slices.SortedFunc(maps.Values(r.suspects), func(a, b *suspect) int { return b.Last.Compare(a.Last) })
	for _, s := range all[min(maxSuspects, len(all)):] {
		delete(r.suspects, s.Pass)
	}
}

// maxSuspects is the maximum number of suspects. Their file, and the one that replaces it, have at most 500 bytes for each.
const maxSuspects = 500

// readSuspects reads the suspects of earlier processes. It ignores an unreadable file, because the process must start all the same.
func (r *Record) readSuspects() error {
	text, err := os.ReadFile(filepath.Join(r.dir, suspectsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the record of suspects: %w", err)
	}
	var all []suspect
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	for _, s := range all {
		r.suspects[s.Pass] = &s
	}
	return nil
}

// writeSuspects replaces the whole file, so that a crash leaves either the old or the new one.
func (r *Record) writeSuspects() error {
	all := make([]suspect, 0, len(r.suspects))
	for _, s := range r.suspects {
		all = append(all, *s)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	path := filepath.Join(r.dir, suspectsFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
