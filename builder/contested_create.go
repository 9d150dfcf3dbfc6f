package builder

import (
	"time"
)

// deletedField stands for the whole child among the fields of a contest over its existence.
const deletedField = ""

// created notes that a child was created, and that this was a correction if it was created shortly before.
func (c *contests) created(key contestKey, digest string, now time.Time) {
	last, again := c.made.Get(key)
	c.made.Add(key, now)
	if !again || now.Sub(last.(time.Time)) > c.calmOf(key) {
		return
	}
	c.corrected(key, digest, []contendedField{{path: deletedField}}, now)
}

// calmOf is how long a child must have been left alone for another correction to be the first one.
func (c *contests) calmOf(key contestKey) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.get(key); known != nil {
		return known.calm()
	}
	return minCalm
}

// creationKey is that of a contest over a child's existence.
func (p *pass) creationKey(w *write) contestKey {
	return contestKey{owner: p.owner.GetUID(), child: w.desired.key, creation: true}
}

// holdCreation leaves a child out for a while if another writer keeps deleting it. What runs once (see CreateOnce) is
// created at once, always.
func (p *pass) holdCreation(w *write) {
	if !p.engine.dry && !w.desired.child.once && p.engine.contests.holds(p.creationKey(w), w.desired.digest, p.engine.now()) {
		w.verdict = verdictContested
	}
}

// noteCreation remembers that a child was created.
func (p *pass) noteCreation(w *write) {
	if w.did == OperationCreated && !p.engine.dry && !w.desired.child.once {
		p.engine.contests.created(p.creationKey(w), w.desired.digest, p.engine.now())
	}
}
