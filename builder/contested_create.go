package builder

import (
	"time"
)

// deletedField stands for the whole child among the fields of a contest over its existence.
const deletedField = ""

// making is what is known of a child that this process has created, or deleted to recreate it.
type making struct {
	at      time.Time
	digest  string // of what was desired; kept up to date by later writes
	deleted bool   // by the builder itself, so that the next creation is no correction
}

// created notes that a child was created, and that this was a correction if it was created shortly before.
func (c *contests) created(key contestKey, digest string, now time.Time) {
	last, again := c.makingOf(key)
	c.made.Add(key, making{at: now, digest: digest})
	if !again || last.deleted || now.Sub(last.at) > c.calmOf(key) {
		return
	}
	c.corrected(key, digest, []contendedField{{path: deletedField}}, now)
}

// recreated notes that a child was deleted to recreate it, and that this was a correction of these fields if the same
// was made of it shortly before: someone else has recreated it meanwhile.
func (c *contests) recreated(key contestKey, digest string, fields []contendedField, now time.Time) {
	creation := key
	creation.creation = true
	last, again := c.makingOf(creation)
	c.made.Add(creation, making{at: now, digest: digest, deleted: true})
	if again && last.digest == digest && now.Sub(last.at) <= c.calmOf(key) {
		c.corrected(key, digest, fields, now)
	}
}

// applied notes that a child that was created is desired in another way now.
func (c *contests) applied(creation contestKey, digest string) {
	if last, ok := c.makingOf(creation); ok && last.digest != digest {
		last.digest = digest
		c.made.Add(creation, last)
	}
}

func (c *contests) makingOf(creation contestKey) (making, bool) {
	return c.made.Get(creation)
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

// holdCreation leaves a child out for a while if another writer keeps deleting it. What runs once (see CreateOnly) is
// created at once, always.
func (p *pass) holdCreation(w *write) {
	if !p.engine.dry && !w.desired.child.once && p.engine.memory.contests.holds(p.creationKey(w), w.desired.digest, p.engine.now()) {
		w.verdict = verdictContested
	}
}

// noteCreation remembers that a child was created, is to be recreated, or is desired in another way since.
func (p *pass) noteCreation(w *write) {
	if p.engine.dry || w.desired.child.once {
		return
	}
	contests, key, now := p.engine.memory.contests, p.creationKey(w), p.engine.now()
	switch w.did {
	case OperationCreated:
		contests.created(key, w.desired.digest, now)
	case OperationRecreating:
		key.creation = false
		contests.recreated(key, w.desired.digest, w.contendedFields(p.engine.name), now)
	case OperationUpdated, OperationAdopted:
		contests.applied(key, w.desired.digest)
	}
}

// isRecreation reports whether a child that differs was created, or deleted to be recreated, by this process as it is
// desired now: then someone else has recreated it, so that the process doesn't know the object.
func (p *pass) isRecreation(w *write) bool {
	last, ok := p.engine.memory.contests.makingOf(p.creationKey(w))
	return ok && last.digest == w.desired.digest
}
