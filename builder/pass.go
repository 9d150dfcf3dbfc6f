package builder

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// pass is one look at one owner: what it has, what it should have, what was done.
type pass struct {
	engine    *Engine
	owner     client.Object
	ownerKind schema.GroupVersionKind
	ownerKey  store.Key

	seen   children // the children of the kinds in listed
	listed map[kind]bool
	wanted store.Store
	spare  []room // for those to come
	await  bool   // look at the readiness of every child

	confirmed bool // the owner is known to be there
	gone      bool // it is known to be gone
	gained    int  // children that came in this pass, less those that went

	phasing phasing
	prunes  []client.Object // kinds

	result Result

	inventory       inventory // on the owner
	pruneAll        bool
	wantedKinds     groupKinds // as far as they are to be recorded
	wantedElsewhere groupKinds
	kindOf          map[schema.GroupKind]kind // of those
	listedElsewhere map[kind]bool

	misuse    misuse               // of the view by the plan
	rehearsed map[store.Key]*write // what a rehearsal would write; nil in earnest
}

func (e *Engine) newPass(owner client.Object) (*pass, error) {
	if isNil(owner) {
		return nil, fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	k, err := e.kinds.of(owner)
	if err != nil {
		return nil, err
	}
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("%w: owner %s has no UID; read it from the API server first", ErrMisuse, k.key(owner))
	}
	return &pass{
		engine: e, owner: owner, ownerKind: k.gvk, ownerKey: k.key(owner),
		seen: children{}, listed: map[kind]bool{},
		inventory: e.inventoryOf(owner),
	}, nil
}

// look reads the owner's children of some kinds, each once a pass.
func (p *pass) look(ctx context.Context, kinds ...kind) error {
	lists, n := make([][]client.Object, len(kinds)), 0
	for i, k := range kinds {
		if p.listed[k] {
			continue
		}
		list, err := p.engine.listOwned(ctx, p.owner, k)
		if err != nil && !isKindGone(err) { // a kind that the cluster doesn't know has no objects; a write of one says so
			return err
		}
		p.listed[k] = true
		lists[i], n = list, n+len(list)
	}
	if len(p.seen) == 0 {
		p.seen = make(children, n) // at once: to let it grow is a good part of what a pass costs
	}
	for i, k := range kinds {
		for _, obj := range lists[i] {
			p.seen[k.key(obj)] = obj
		}
	}
	return nil
}

// apply brings the children to what is wanted. Every child is tried; the errors are joined.
func (p *pass) apply(ctx context.Context, wants []Child) error {
	var errs []error
	var writes []*write
	p.expect(len(wants))
	for _, want := range wants {
		w, err := p.decide(ctx, want)
		switch {
		case err != nil:
			errs = append(errs, err)
		case w.verdict == verdictCreate || w.verdict == verdictApply:
			writes = append(writes, w)
		default:
			p.record(w)
		}
	}
	return errors.Join(append(errs, p.writeAll(ctx, writes))...)
}

// writeAll does what was decided, in parallel.
func (p *pass) writeAll(ctx context.Context, writes []*write) error {
	if len(writes) == 0 {
		return nil
	}
	if err := p.confirmOwner(ctx, writes); err != nil {
		return err
	}
	var failing failingKinds
	var errs []error
	try := func(w *write) error {
		return failing.try(w.desired.key, func() error { return w.explain(p, w.run(ctx, p)) })
	}
	tries, others := p.engine.kinds.tries(writes)
	for _, w := range tries {
		err := try(w)
		if err == nil {
			p.engine.kinds.missing.Delete(w.desired.kind.gvk)
		}
		errs = append(errs, err)
	}
	errs = append(errs, inBatches(len(others), p.engine.parallelism, func(i int) error { return try(others[i]) }))
	for _, w := range writes {
		p.record(w)
	}
	return errors.Join(errs...)
}

// decide compares a wanted object with what exists.
func (p *pass) decide(ctx context.Context, want Child) (*write, error) {
	d, err := p.desire(want)
	if err != nil {
		return nil, err
	}
	found, err := p.find(ctx, d)
	if err != nil {
		return nil, err
	}
	return p.compare(d, found)
}

// find returns the object of d's name, whoever's it is, or nil.
func (p *pass) find(ctx context.Context, d *desired) (client.Object, error) {
	if p.engine.isIndexed(d.kind) {
		if err := p.look(ctx, d.kind); err != nil {
			return nil, err
		}
	}
	if found := p.seen[d.key]; found != nil && isUntyped(found) == d.kind.untyped {
		return found, nil
	}
	found, err := p.engine.readKnown(ctx, p.engine.client, d.kind, d.key)
	if found != nil {
		p.meet(d.key)
	}
	return found, p.engine.kinds.noteMissing(d.kind.gvk, err)
}

// compare says what has to be done about an object, given what was found under its name.
func (p *pass) compare(d *desired, found client.Object) (*write, error) {
	w := d.newWrite(found)
	if found == nil {
		err := d.stamp(p)
		if err == nil {
			p.holdCreation(w)
		}
		return w, err
	}
	switch p.ownershipOf(d, found) {
	case foreign:
		if d.child.elsewhere {
			return nil, d.refuse(found)
		}
		return p.meetForeign(w)
	case leaving:
		w.verdict = verdictWait
		return w, nil
	case ours:
		if d.child.once {
			w.verdict = verdictNothing
			if d.lacksMark(found) {
				w.verdict = verdictApply
				p.holdContested(w)
			}
			return w, nil
		}
	}
	asWanted, err := p.keeps(d, found)
	if err == nil && !asWanted {
		asWanted, err = p.isAsWanted(d, found)
	}
	w.verdict = verdictApply
	if asWanted {
		w.verdict = verdictNothing
	} else if err == nil {
		p.holdContested(w)
	}
	return w, err
}

// record notes what became of a wanted object.
func (p *pass) record(w *write) {
	p.judge(w)
	w.tellCorrections(p)
	switch {
	case w.did != "":
		p.changed(w.did, w.desired.kind, w.desired.key, w.stored)
		p.result.Changes[len(p.result.Changes)-1].left = w.left
		w.countDrift(p.engine)
		p.noteCorrection(w)
		p.noteCreation(w)
		if p.rehearsed != nil {
			p.rehearsed[w.desired.key] = w
		}
		if w.did == OperationRecreating {
			p.result.Waiting = append(p.result.Waiting, w.desired.key)
		}
	case w.kept:
		p.result.Unchanged++
		p.result.kept = append(p.result.kept, Change{Key: w.desired.key, UID: w.found.GetUID(), Operation: operationKept, object: w.found})
	case w.verdict == verdictNothing:
		p.result.Unchanged++
	case w.verdict == verdictWait:
		p.result.Waiting = append(p.result.Waiting, w.desired.key)
	case w.verdict == verdictContested:
		why := "another writer keeps changing it"
		if w.found == nil {
			why = "another writer keeps deleting it"
		}
		p.result.NotReady = append(p.result.NotReady, NotReady{Key: w.desired.key, Phase: w.desired.child.phase, Message: why})
	}
}

func (p *pass) changed(op Operation, k kind, key store.Key, obj client.Object) {
	p.wrote(k, key)
	p.countGained(op, k, key)
	if !p.engine.dry && op == OperationDeleted {
		p.engine.memory.contests.forget(p.owner.GetUID(), key)
	}
	p.result.Changes = append(p.result.Changes, Change{Key: key, UID: obj.GetUID(), Operation: op, object: obj})
}

// finish orders the result of a pass that returned an error or none, so that the same pass always reads the same.
func (p *pass) finish(err error) Result {
	p.rememberPresent()
	p.noteContests(err)
	slices.SortStableFunc(p.result.Changes, func(a, b Change) int {
		if a.Operation != b.Operation {
			return slices.Index(operations, a.Operation) - slices.Index(operations, b.Operation)
		}
		return store.Compare(a.Key, b.Key)
	})
	slices.SortFunc(p.result.kept, func(a, b Change) int { return store.Compare(a.Key, b.Key) })
	slices.SortFunc(p.result.Waiting, store.Compare)
	slices.SortFunc(p.result.Paused, store.Compare)
	slices.SortFunc(p.result.NotReady, func(a, b NotReady) int { return store.Compare(a.Key, b.Key) })
	if until := refusedUntil(err); !until.IsZero() {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, max(until.Sub(p.engine.now()), conflictDelay))
	}
	if len(p.result.Waiting) > 0 {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, waitForDeletion)
	}
	return p.result
}

var operations = []Operation{OperationCreated, OperationAdopted, OperationUpdated, OperationRecreating, OperationDeleted}
