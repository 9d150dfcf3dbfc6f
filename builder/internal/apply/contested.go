package apply

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

func (c *Cluster) contestKey(child store.Key) contest.Key {
	return contest.Key{Owner: c.Owner.GetUID(), Child: child}
}

// holdContested suspends the writes of a child for a while if another writer keeps changing or recreating it.
func (c *Cluster) holdContested(w *Write) {
	if c.DryRun {
		return
	}
	contests, key, digest := c.Memory.Contests, c.contestKey(w.Desired.Key), w.Desired.Digest
	// If this process has confirmed or written the fields before, another writer has changed them: the digest is unchanged, or that writer's.
	w.corrects = !w.isDesiredChanged() || w.Desired.Hashed && c.Memory.UpToDate.Knows(w.Observed.GetUID(), w.Desired.Hash)
	if !w.corrects && !contests.HasMade(key, digest) {
		return
	}
	if contests.Holds(key, digest, c.Now()) {
		w.Action = BackOff
	}
}

// holdCreation suspends the creation of a child for a while if another writer keeps deleting it. It never delays a child with
// CreateOnly.
func (c *Cluster) holdCreation(w *Write) {
	if !c.DryRun && !w.Desired.Child.CreateOnly &&
		c.Memory.Contests.HoldsCreation(c.contestKey(w.Desired.Key), w.Desired.Digest, c.Now()) {
		w.Action = BackOff
	}
}

// note records what a write did, for the metrics and for contests with other writers.
func (w *Write) note(c *Cluster) {
	if w.Operation == "" || c.DryRun {
		return
	}
	if w.Operation == events.ReasonUpdated && w.drifted {
		telemetry.CountDrift(c.Name, w.Desired.Key.GroupKind().String())
	}
	c.noteCorrection(w)
	c.noteCreation(w)
}

// noteCorrection records that the builder restored a child, and which fields.
func (c *Cluster) noteCorrection(w *Write) {
	if !w.corrects || w.Operation != events.ReasonUpdated && w.Operation != events.ReasonAdopted {
		return
	}
	fields := w.contendedFields
	if w.Desired.Child.CreateOnly {
		fields = w.contendedMarks
	}
	c.Memory.Contests.Corrected(c.contestKey(w.Desired.Key), w.Desired.Digest, fields(c), c.Now())
}

// noteCreation records that a child was created, is to be recreated, or has another desired state since.
func (c *Cluster) noteCreation(w *Write) {
	if w.Desired.Child.CreateOnly {
		return
	}
	contests, key, digest, now := c.Memory.Contests, c.contestKey(w.Desired.Key), w.Desired.Digest, c.Now()
	switch w.Operation {
	case events.ReasonCreated:
		contests.Created(key, digest, now)
	case events.ReasonRecreating:
		contests.Recreated(key, digest, w.contendedFields(c), now)
	case events.ReasonUpdated, events.ReasonAdopted:
		contests.Applied(key, digest)
	}
}

// contendedFields returns the fields in which the object differed from the desired one before the pass wrote anything, and the field
// managers that own them.
func (w *Write) contendedFields(c *Cluster) []fieldmanager.Drift {
	live, err := payload.Stored(w.initial)
	if err != nil {
		return nil
	}
	m := c.fieldManager(w.Desired)
	all := m.Drifts(w.initial.GetManagedFields(), w.Desired.fields, live, w.Desired.isDigestOf(w.initial))
	for _, removal := range w.Corrected {
		all = append(all, removal.Drift)
	}
	if len(all) == 0 {
		all = fieldmanager.Unowned(w.Desired.fields, live)
	}
	return all
}

// contendedMarks returns the labels and references of a CreateOnly child that the builder restores and another writer has changed.
func (w *Write) contendedMarks(c *Cluster) []fieldmanager.Drift {
	var all []fieldmanager.Drift
	m, entries := c.fieldManager(w.Desired), w.initial.GetManagedFields()
	if w.Desired.lacksMark(w.initial) {
		all = append(all, m.DriftOf(entries, fieldpath.MakePathOrDie("metadata", "labels", wellknown.LabelManagedBy)))
	}
	if w.adopts {
		all = append(all, m.DriftOf(entries, fieldpath.MakePathOrDie("metadata", "ownerReferences")))
	}
	return all
}
