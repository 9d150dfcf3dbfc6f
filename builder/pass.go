package builder

import (
	"context"
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

	confirmed bool // the owner is known to be there
	gone      bool // it is known to be gone
	gained    int  // children that came in this pass, less those that went

	instructions
	runs map[string]*runRecord // by child, of those with RunOnce; nil until they are read

	result Result

	inventory       inventory  // on the owner
	wantedKinds     groupKinds // as far as they are to be recorded
	wantedElsewhere groupKinds
	kindOf          map[schema.GroupKind]kind // of those
	listedElsewhere map[kind]bool

	misuse    misuse               // of the view by the plan
	rehearsed map[store.Key]*write // what a rehearsal would write; nil in earnest
}

// instructions are what a plan, or a Builder, asks of the cluster.
type instructions struct {
	children []Child
	edits    []Edit
	scales   []Scale
	deletes  []client.Object
	prunes   []client.Object // kinds
	pruneAll bool
	await    bool // look at the readiness of every child
	phasing  phasing
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

// recordAll notes what became of each child.
func (p *pass) recordAll(outcomes []room) {
	for i := range outcomes {
		if w := &outcomes[i].write; w.desired != nil {
			p.record(w)
		}
	}
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
		p.result.NotReady = append(p.result.NotReady, NotReady{Key: w.desired.key, Phase: w.desired.child.phase, Why: why})
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
	slices.SortFunc(p.result.Held, store.Compare)
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
