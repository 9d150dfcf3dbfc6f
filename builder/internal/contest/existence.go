package contest

import (
	"time"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
)

// existenceField represents the whole child among the fields of a contest over its existence.
const existenceField = ""

// making is the record of a child that this process has created, or deleted to recreate it.
type making struct {
	at      time.Time
	digest  string // of the desired object; later writes update it
	deleted bool   // by the builder itself, so that the next creation is no correction
}

// HoldsCreation reports whether the creation of a child is suspended.
func (r *Record) HoldsCreation(key Key, digest string, now time.Time) bool {
	return r.Holds(key.overExistence(), digest, now)
}

// Created records the creation of a child. It is a correction if the child was created shortly before.
func (r *Record) Created(key Key, digest string, now time.Time) {
	last, again := r.made.Get(key)
	r.made.Add(key, making{at: now, digest: digest})
	if !again || last.deleted || now.Sub(last.at) > r.calmOf(key.overExistence()) {
		return
	}
	r.Corrected(key.overExistence(), digest, []fieldmanager.Drift{{Path: existenceField}}, now)
}

// Recreated records that the builder deleted a child to recreate it. It is a correction of these fields if the builder did the same
// shortly before, because another writer has recreated the child meanwhile.
func (r *Record) Recreated(key Key, digest string, fields []fieldmanager.Drift, now time.Time) {
	last, again := r.made.Get(key)
	r.made.Add(key, making{at: now, digest: digest, deleted: true})
	if again && last.digest == digest && now.Sub(last.at) <= r.calmOf(key) {
		r.Corrected(key, digest, fields, now)
	}
}

// Applied records that a created child has another desired state now.
func (r *Record) Applied(key Key, digest string) {
	if last, ok := r.made.Get(key); ok && last.digest != digest {
		last.digest = digest
		r.made.Add(key, last)
	}
}

// HasMade reports whether this process has created a child in its present desired state, or deleted it to recreate it.
func (r *Record) HasMade(key Key, digest string) bool {
	last, ok := r.made.Get(key)
	return ok && last.digest == digest
}

// calmOf returns how long a child must stay unchanged for the next correction to be the first one.
func (r *Record) calmOf(key Key) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.get(key); known != nil {
		return known.calm()
	}
	return minCalm
}
