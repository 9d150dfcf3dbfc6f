package contest

import (
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/store"
)

const (
	// After is the number of corrections of one field that begin a contest. The builder makes each of them at once.
	After = 3
	// MaxBackoff and minBackoff limit how long the builder suspends its writes of a contested child after a correction.
	MaxBackoff = 5 * time.Minute
	minBackoff = time.Second
	// minCalm is the minimum time without a correction after which a contest ends.
	minCalm = time.Minute
	// maxFields limits the recorded fields, and managers, of one child.
	maxFields = 16
)

// Record has the contests of all owners. It is safe for concurrent use.
type Record struct {
	mu       sync.Mutex
	children *lru.Cache[Key, *state]
	owners   *lru.Cache[types.UID, map[Key]bool] // an owner's contested children
	made     *lru.Cache[Key, making]             // of children that were created or recreated
}

// Key is a child of an owner.
type Key struct {
	Owner types.UID
	Child store.Key

	existence bool // the contest is over the child's existence, and not over its fields
}

// overExistence returns the key of a contest over the child's existence.
func (k Key) overExistence() Key {
	k.existence = true
	return k
}

// state is the record of a corrected child.
type state struct {
	fields   map[string]int  // path -> corrections of it in a row
	by       map[string]bool // the managers that changed them
	self     bool            // another process with the builder's own name is among them
	digest   string          // of the last write
	last     time.Time       // correction
	until    time.Time       // the end of the suspension
	backoff  time.Duration   // 0: the child isn't contested
	reported bool
}

// calm is the time after the last correction after which the other writer counts as stopped. It is more than the backoff, and more
// than that of another process that runs this code.
func (s *state) calm() time.Duration { return max(minCalm, 2*s.backoff) }

// NewRecord returns a Record of at most size children.
func NewRecord(size int) *Record {
	return &Record{children: newCache[Key, *state](size), owners: newCache[types.UID, map[Key]bool](size), made: newCache[Key, making](size)}
}

func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, _ := lru.New[K, V](size) // fails only for a size below 1
	return c
}

func (r *Record) get(key Key) *state {
	known, _ := r.children.Get(key)
	return known
}

// Holds reports whether writes of a child's fields are suspended. A new desired state is never suspended.
func (r *Record) Holds(key Key, digest string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.get(key)
	return known != nil && known.backoff > 0 && known.digest == digest && now.Before(known.until)
}

// Corrected records that the builder restored fields of a child to their last written values.
func (r *Record) Corrected(key Key, digest string, fields []fieldmanager.Drift, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.get(key)
	if known == nil || now.Sub(known.last) > known.calm() {
		known = &state{fields: map[string]int{}, by: map[string]bool{}}
	}
	r.children.Add(key, known)
	known.last, known.digest = now, digest
	most := 0
	for _, path := range pathsOf(fields) {
		if _, ok := known.fields[path]; ok || len(known.fields) < maxFields {
			known.fields[path]++
			most = max(most, known.fields[path])
		}
	}
	for _, f := range fields {
		known.self = known.self || f.Self
		if f.By != "" && len(known.by) < maxFields {
			known.by[f.By] = true
		}
	}
	switch {
	case known.backoff > 0:
		known.backoff = min(2*known.backoff, MaxBackoff)
	case most >= After:
		known.backoff = minBackoff
		contested, ok := r.owners.Get(key.Owner)
		if !ok {
			contested = map[Key]bool{}
		}
		contested[key] = true
		r.owners.Add(key.Owner, contested)
	}
	known.until = now.Add(known.backoff)
}

func pathsOf(fields []fieldmanager.Drift) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Contest is a child that another writer changes, deletes or recreates repeatedly.
type Contest struct {
	Child store.Key
	// Fields are the paths of the contested fields, sorted. Empty: the child is deleted repeatedly.
	Fields []string
	// By are the managers that changed them, sorted.
	By []string
	// Self is true if another process with the builder's own name is among them.
	Self bool
	// Times is the number of restorations of one field in a row, rounded down to one of a few numbers.
	Times int
}

// contest returns the contest of a child, for reports.
func (s *state) contest(key Key) Contest {
	c := Contest{Child: key.Child, By: slices.Sorted(maps.Keys(s.by)), Self: s.self}
	most := 0
	for path, times := range s.fields {
		most = max(most, times)
		if times >= After && path != existenceField {
			c.Fields = append(c.Fields, path)
		}
	}
	slices.Sort(c.Fields)
	c.Times = rounded(most)
	return c
}

// rounded rounds a growing number to one that seldom changes, so that a condition with it isn't written each time.
func rounded(n int) int {
	steps := []int{After, 10, 30, 100, 300, 1000}
	for i, step := range steps {
		if n < step {
			return steps[max(i-1, 0)]
		}
	}
	return steps[len(steps)-1]
}

// Report is the change of an owner's contests.
type Report struct {
	// Active are all contests of the owner, Begun those that weren't reported before, Ended those that have ended. Each is ordered by
	// child.
	Active, Begun, Ended []Contest
	// Wait is the time until a contest ends or a correction is due; 0: never.
	Wait time.Duration
}

// Report returns the contests of an owner over desired children, and drops those that have ended. For other children it only keeps the
// rate limit, because a plan may name a child only while it is missing.
func (r *Record) Report(owner types.UID, now time.Time, isDesired func(store.Key) bool) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	var report Report
	children, ok := r.owners.Get(owner)
	if !ok {
		return report
	}
	for key := range children {
		known := r.get(key)
		if known == nil || known.backoff == 0 { // it was dropped
			delete(children, key)
			continue
		}
		if !isDesired(key.Child) {
			continue
		}
		contest, over := known.contest(key), known.last.Add(known.calm())
		if !now.Before(over) {
			report.Ended = append(report.Ended, contest)
			r.children.Remove(key)
			delete(children, key)
			continue
		}
		report.Active = append(report.Active, contest)
		if !known.reported {
			known.reported = true
			report.Begun = append(report.Begun, contest)
		}
		next := over
		if now.Before(known.until) {
			next = known.until
		}
		if wait := next.Sub(now); report.Wait == 0 || wait < report.Wait {
			report.Wait = wait
		}
	}
	if len(children) == 0 {
		r.owners.Remove(owner)
	}
	for _, list := range [][]Contest{report.Active, report.Begun, report.Ended} {
		slices.SortFunc(list, func(a, b Contest) int { return store.Compare(a.Child, b.Child) })
	}
	return report
}

// Forget drops the record of a child that the builder itself has deleted.
func (r *Record) Forget(key Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.children.Remove(key)
	r.children.Remove(key.overExistence())
	r.made.Remove(key)
}
