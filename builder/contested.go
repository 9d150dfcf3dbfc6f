package builder

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/store"
)

const (
	// contestedAfter is how many corrections of one field make its child a contested one. Each of them is made at once.
	contestedAfter = 3
	// minContestBackoff and maxContestBackoff bound how long a contested child is left as it is after a correction.
	minContestBackoff = time.Second
	maxContestBackoff = 5 * time.Minute
	// minCalm is the least time without a correction after which a contest is over.
	minCalm = time.Minute
	// maxContestedFields bounds the fields that are remembered of one child.
	maxContestedFields = 16
)

// contests remembers which children another writer changes again and again, so that both don't write forever. It only
// limits a rate: after a restart of the process it is learned again.
type contests struct {
	mu       sync.Mutex
	children *recent[contestKey, *contest]
	owners   *recent[types.UID, map[contestKey]bool] // an owner's contested children
	made     *recent[contestKey, making]             // of children that were created or recreated
}

type contestKey struct {
	owner    types.UID
	child    store.Key
	creation bool // the contest is over the child's existence, and not over its fields
}

// contest is what is known of a child that was corrected.
type contest struct {
	fields  map[string]int  // path -> corrections of it in a row
	by      map[string]bool // who changed them
	self    bool            // another process of this controller's own name is among them
	digest  string          // of what was written last
	last    time.Time       // correction
	until   time.Time       // the child is left as it is
	backoff time.Duration   // 0: the child isn't contested
	told    bool
}

// calm is how long after the last correction the other writer counts as gone. It is more than the backoff, and more than
// that of another process that runs this code.
func (c *contest) calm() time.Duration { return max(minCalm, 2*c.backoff) }

func newContests() *contests {
	return &contests{
		children: newRecent[contestKey, *contest](), owners: newRecent[types.UID, map[contestKey]bool](), made: newRecent[contestKey, making](),
	}
}

func (c *contests) get(key contestKey) *contest {
	known, _ := c.children.Get(key)
	return known
}

// holds reports whether a child is to be left as it is for now. Another desired state is applied at once.
func (c *contests) holds(key contestKey, digest string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.get(key)
	return known != nil && known.backoff > 0 && known.digest == digest && now.Before(known.until)
}

// corrected notes that fields of a child were put back to what was written before.
func (c *contests) corrected(key contestKey, digest string, fields []contendedField, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.get(key)
	if known == nil || now.Sub(known.last) > known.calm() {
		known = &contest{fields: map[string]int{}, by: map[string]bool{}}
	}
	c.children.Add(key, known)
	known.last, known.digest = now, digest
	most := 0
	for _, path := range pathsOf(fields) {
		if _, ok := known.fields[path]; ok || len(known.fields) < maxContestedFields {
			known.fields[path]++
			most = max(most, known.fields[path])
		}
	}
	for _, f := range fields {
		known.self = known.self || f.self
		if f.by != "" && len(known.by) < maxContestedFields {
			known.by[f.by] = true
		}
	}
	switch {
	case known.backoff > 0:
		known.backoff = min(2*known.backoff, maxContestBackoff)
	case most >= contestedAfter:
		known.backoff = minContestBackoff
		of, ok := c.owners.Get(key.owner)
		if !ok {
			of = map[contestKey]bool{}
		}
		of[key] = true
		c.owners.Add(key.owner, of)
	}
	known.until = now.Add(known.backoff)
}

// contestNews is what a pass is told of an owner's contests.
type contestNews struct {
	active, begun, ended []Contest
	lookAgain            time.Duration // 0: never
}

// of returns the contests of an owner over children that are desired, and forgets those that are over. Of the others only
// the rate stays limited: a plan may name a child only while it is missing.
func (c *contests) of(owner types.UID, now time.Time, desired func(store.Key) bool) contestNews {
	c.mu.Lock()
	defer c.mu.Unlock()
	var news contestNews
	children, ok := c.owners.Get(owner)
	if !ok {
		return news
	}
	for key := range children {
		known := c.get(key)
		if known == nil || known.backoff == 0 { // it was dropped
			delete(children, key)
			continue
		}
		if !desired(key.child) {
			continue
		}
		told := known.contest(key)
		over := known.last.Add(known.calm())
		if !now.Before(over) {
			news.ended = append(news.ended, told)
			c.children.Remove(key)
			delete(children, key)
			continue
		}
		news.active = append(news.active, told)
		if !known.told {
			known.told = true
			news.begun = append(news.begun, told)
		}
		next := over
		if now.Before(known.until) {
			next = known.until
		}
		news.lookAgain = sooner(news.lookAgain, next.Sub(now))
	}
	if len(children) == 0 {
		c.owners.Remove(owner)
	}
	for _, list := range [][]Contest{news.active, news.begun, news.ended} {
		slices.SortFunc(list, func(a, b Contest) int { return store.Compare(a.Key, b.Key) })
	}
	return news
}

// isCorrection reports whether a write would put back what this process has confirmed or written before, so that someone
// else has changed it since: either the digest is still the same, or it is another writer's.
func (p *pass) isCorrection(w *write) bool {
	return !w.wantsOther() || w.desired.hashed && p.engine.memory.upToDate.knows(w.found.GetUID(), w.desired.hash)
}

// holdContested leaves a child as it is for a while if another writer keeps changing it.
func (p *pass) holdContested(w *write) {
	if p.engine.dry {
		return
	}
	if w.corrects = p.isCorrection(w); !w.corrects && !p.isRecreation(w) {
		return
	}
	if p.engine.memory.contests.holds(contestKey{owner: p.owner.GetUID(), child: w.desired.key}, w.desired.digest, p.engine.now()) {
		w.verdict = verdictContested
	}
}

// noteCorrection remembers that a child was put back, and which fields.
func (p *pass) noteCorrection(w *write) {
	if !w.corrects || w.did != OperationUpdated && w.did != OperationAdopted {
		return
	}
	fields := w.contendedFields
	if w.desired.child.once {
		fields = w.contendedMarks
	}
	key := contestKey{owner: p.owner.GetUID(), child: w.desired.key}
	p.engine.memory.contests.corrected(key, w.desired.digest, fields(p.engine.name), p.engine.now())
}

// forget drops what is known of a child that the builder itself has deleted.
func (c *contests) forget(owner types.UID, child store.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, creation := range []bool{false, true} {
		c.children.Remove(contestKey{owner: owner, child: child, creation: creation})
	}
	c.made.Remove(contestKey{owner: owner, child: child, creation: true})
}

// noteContests puts the owner's contests into the result. After an error not all is known that is desired.
func (p *pass) noteContests(err error) {
	if p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return
	}
	isDesired := func(key store.Key) bool { return err != nil || p.wanted.Has(key) }
	p.result.news = p.engine.memory.contests.of(p.owner.GetUID(), p.engine.now(), isDesired)
	p.result.Contested = p.result.news.active
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, p.result.news.lookAgain)
}
