package contest

import (
	"time"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
)

// existenceField stands for the whole child among the fields of a contest over its existence.
const existenceField = ""

// making is what is known of a child that this process has created, or deleted to recreate it.
type making struct {
	at      time.Time
	digest  string // of what was desired; kept up to date by later writes
	deleted bool   // by the builder itself, so that the next creation is no correction
}

// HoldsCreation reports whether a child is not to be created for now.
func (r *Record) HoldsCreation(key Key, digest string, now time.Time) bool {
	return r.Holds(key.overExistence(), digest, now)
}

// Created records that a child was created, and that this was a correction if it was created shortly before.
func (r *Record) Created(key Key, digest string, now time.Time) {
	last, again := r.made.Get(key)
	r.made.Add(key, making{at: now, digest: digest})
	if !again || last.deleted || now.Sub(last.at) > r.calmOf(key.overExistence()) {
		return
	}
	r.Corrected(key.overExistence(), digest, []fieldmanager.Drift{{Path: existenceField}}, now)
}

// Recreated records that a child was deleted to recreate it, and that this was a correction of these fields if the same was made of it
// shortly before: someone else has recreated it meanwhile.
func (r *Record) Recreated(key Key, digest string, fields []fieldmanager.Drift, now time.Time) {
	last, again := r.made.Get(key)
	r.made.Add(key, making{at: now, digest: digest, deleted: true})
	if again && last.digest == digest && now.Sub(last.at) <= r.calmOf(key) {
		r.Corrected(key, digest, fields, now)
	}
}

// Applied records that a child that was created is desired in another way now.
func (r *Record) Applied(key Key, digest string) {
	if last, ok := r.made.Get(key); ok && last.digest != digest {
		last.digest = digest
		r.made.Add(key, last)
	}
}

// HasMade reports whether this process has created a child, or deleted it to recreate it, as it is desired now.
func (r *Record) HasMade(key Key, digest string) bool {
	last, ok := r.made.Get(key)
	return ok && last.digest == digest
}

// calmOf is how long a child must have been left alone for another correction to be the first one.
func (r *Record) calmOf(key Key) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.get(key); known != nil {
		return known.calm()
	}
	return minCalm
}
