package builder

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

func (p *pass) contestKey(child store.Key) contest.Key {
	return contest.Key{Owner: p.owner.GetUID(), Child: child}
}

// isCorrection reports whether a write would restore what this process has confirmed or written before, so that someone else has changed
// it since: either the digest is still the same, or it is another writer's.
func (p *pass) isCorrection(w *write) bool {
	return !w.isDesiredChanged() || w.desired.hashed && p.engine.memory.UpToDate.Knows(w.observed.GetUID(), w.desired.hash)
}

// holdContested leaves a child as it is for a while if another writer keeps changing or recreating it.
func (p *pass) holdContested(w *write) {
	if p.engine.dry {
		return
	}
	contests, key, digest := p.engine.memory.Contests, p.contestKey(w.desired.key), w.desired.digest
	if w.corrects = p.isCorrection(w); !w.corrects && !contests.HasMade(key, digest) {
		return
	}
	if contests.Holds(key, digest, p.engine.now()) {
		w.action = actionBackOff
	}
}

// holdCreation leaves a child out for a while if another writer keeps deleting it. What runs once (see CreateOnly) is created at once,
// always.
func (p *pass) holdCreation(w *write) {
	if !p.engine.dry && !w.desired.child.once &&
		p.engine.memory.Contests.HoldsCreation(p.contestKey(w.desired.key), w.desired.digest, p.engine.now()) {
		w.action = actionBackOff
	}
}

// noteCorrection records that a child was restored, and which fields.
func (p *pass) noteCorrection(w *write) {
	if !w.corrects || w.operation != events.ReasonUpdated && w.operation != events.ReasonAdopted {
		return
	}
	fields := w.contendedFields
	if w.desired.child.once {
		fields = w.contendedMarks
	}
	p.engine.memory.Contests.Corrected(p.contestKey(w.desired.key), w.desired.digest, fields(p.engine), p.engine.now())
}

// noteCreation records that a child was created, is to be recreated, or is desired in another way since.
func (p *pass) noteCreation(w *write) {
	if p.engine.dry || w.desired.child.once {
		return
	}
	contests, key, digest, now := p.engine.memory.Contests, p.contestKey(w.desired.key), w.desired.digest, p.engine.now()
	switch w.operation {
	case events.ReasonCreated:
		contests.Created(key, digest, now)
	case events.ReasonRecreating:
		contests.Recreated(key, digest, w.contendedFields(p.engine), now)
	case events.ReasonUpdated, events.ReasonAdopted:
		contests.Applied(key, digest)
	}
}

// noteContests puts the owner's contests into the result. After an error not all is known that is desired.
func (p *pass) noteContests(err error) {
	if p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return
	}
	isDesired := func(key store.Key) bool { return err != nil || p.desired.Has(key) }
	report := p.engine.memory.Contests.Report(p.owner.GetUID(), p.engine.now(), isDesired)
	p.result.Contested = statusOfContests(report.Active)
	p.result.begun, p.result.ended = statusOfContests(report.Begun), statusOfContests(report.Ended)
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, report.Wait)
}

// contendedFields returns the fields in which the object differed from the desired one before the pass wrote anything, and which field
// managers own them.
func (w *write) contendedFields(e *Engine) []fieldmanager.Drift {
	found, err := payload.Stored(w.initial)
	if err != nil {
		return nil
	}
	m := e.fieldManager(w.desired)
	all := m.Drifts(w.initial.GetManagedFields(), w.desired.fields, found, w.desired.isDigestOf(w.initial))
	for _, c := range w.corrected {
		all = append(all, c.Drift)
	}
	if len(all) == 0 {
		all = m.Unowned(w.desired.fields, found)
	}
	return all
}

// contendedMarks returns which of what the builder puts back of a child with CreateOnly others have changed.
func (w *write) contendedMarks(e *Engine) []fieldmanager.Drift {
	var all []fieldmanager.Drift
	m, entries := e.fieldManager(w.desired), w.initial.GetManagedFields()
	if w.desired.lacksMark(w.initial) {
		all = append(all, m.DriftOf(entries, fieldpath.MakePathOrDie("metadata", "labels", wellknown.LabelManagedBy)))
	}
	if w.adopts {
		all = append(all, m.DriftOf(entries, fieldpath.MakePathOrDie("metadata", "ownerReferences")))
	}
	return all
}
