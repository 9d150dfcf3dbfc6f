package builder

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/store"
)

// pass is one look at one owner: what it has, what it should have, what was done.
type pass struct {
	engine    *Engine
	owner     client.Object
	ownerKind schema.GroupVersionKind
	ownerKey  store.Key

	seen   children // children of the kinds in listed
	listed map[schema.GroupVersionKind]bool
	wanted store.Store
	result Result
}

func (e *Engine) newPass(owner client.Object) (*pass, error) {
	gvk, err := apiutil.GVKForObject(owner, e.client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("%w: owner %T is no registered kind: %w", ErrMisuse, owner, err)
	}
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("%w: owner %s %s has no UID; read it from the API server first", ErrMisuse, gvk.Kind, owner.GetName())
	}
	return &pass{
		engine: e, owner: owner, ownerKind: gvk,
		ownerKey: store.KeyOf(gvk, owner.GetNamespace(), owner.GetName()),
		seen:     children{}, listed: map[schema.GroupVersionKind]bool{},
	}, nil
}

// look reads the owner's children of one kind, once a pass.
func (p *pass) look(ctx context.Context, like client.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(like, p.engine.client.Scheme())
	if err != nil {
		return gvk, fmt.Errorf("%w: %T is no registered kind: %w", ErrMisuse, like, err)
	}
	if p.listed[gvk] {
		return gvk, nil
	}
	if err := p.engine.listOwned(ctx, p.owner, gvk, like, p.seen); err != nil {
		return gvk, err
	}
	p.listed[gvk] = true
	return gvk, nil
}

// apply brings the children to what is wanted. Every child is tried; the errors are joined.
func (p *pass) apply(ctx context.Context, wants []Child) error {
	var errs []error
	var writes []*write
	for _, want := range wants {
		w, err := p.decide(ctx, want)
		if err != nil {
			errs = append(errs, err)
		} else if w != nil {
			writes = append(writes, w)
		}
	}
	errs = append(errs, inBatches(len(writes), p.engine.parallelism, func(i int) error {
		return writes[i].run(ctx, p)
	}))
	for _, w := range writes {
		p.record(w)
	}
	return errors.Join(errs...)
}

// decide compares one child with what exists. It returns nil when there is nothing to write.
func (p *pass) decide(ctx context.Context, want Child) (*write, error) {
	d, err := p.stampNew(want.object)
	if err != nil {
		return nil, err
	}
	found, err := p.find(ctx, d)
	if err != nil {
		return nil, err
	}
	return p.compare(d, found)
}

// stampNew stamps an object that was not wanted before in this pass.
func (p *pass) stampNew(obj client.Object) (*desired, error) {
	if isNil(obj) {
		return nil, fmt.Errorf("%w: a wanted object is nil (%T)", ErrMisuse, obj)
	}
	d, err := p.stamp(obj)
	if err != nil {
		return nil, err
	}
	if !p.wanted.Put(d.key) {
		return nil, fmt.Errorf("%w: %s is wanted twice", ErrMisuse, d.key)
	}
	return d, nil
}

func isNil(obj client.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// find returns the object of d's name, whoever's it is, or nil.
func (p *pass) find(ctx context.Context, d *desired) (client.Object, error) {
	if p.engine.isIndexed(d.gvk) {
		if _, err := p.look(ctx, d.object); err != nil {
			return nil, err
		}
	}
	if found := p.seen[d.key]; found != nil {
		return found, nil
	}
	return p.engine.read(ctx, d)
}

// compare says what has to be written, nil if nothing.
func (p *pass) compare(d *desired, found client.Object) (*write, error) {
	if found == nil {
		return &write{desired: d}, nil
	}
	switch ownershipOf(found, p.owner, p.ownerKind) {
	case foreign:
		return nil, notOwned(d.key, found)
	case leaving:
		p.result.Waiting = append(p.result.Waiting, d.key)
		return nil, nil
	}
	if p.engine.isAsWanted(d, found) {
		p.result.Unchanged++
		return nil, nil
	}
	return &write{desired: d, found: found}, nil
}

func notOwned(key store.Key, found client.Object) error {
	return &Error{Key: key, Operation: "apply", Err: fmt.Errorf("%w: %s; rename the child, or delete that object", ErrNotOwned, describeOwner(found))}
}

// record notes what a write did.
func (p *pass) record(w *write) {
	switch w.outcome {
	case "":
	case outcomeUnchanged:
		p.result.Unchanged++
	case outcomeWaiting:
		p.result.Waiting = append(p.result.Waiting, w.desired.key)
	default:
		p.changed(Operation(w.outcome), w.desired.key, w.stored)
	}
}

func (p *pass) changed(op Operation, key store.Key, obj client.Object) {
	p.result.Changes = append(p.result.Changes, Change{Key: key, UID: obj.GetUID(), Operation: op, object: obj})
}

// finish orders the result, so that the same pass always reads the same.
func (p *pass) finish() Result {
	slices.SortStableFunc(p.result.Changes, func(a, b Change) int {
		if a.Operation != b.Operation {
			return slices.Index(operations, a.Operation) - slices.Index(operations, b.Operation)
		}
		return store.Compare(a.Key, b.Key)
	})
	slices.SortFunc(p.result.Waiting, store.Compare)
	return p.result
}

var operations = []Operation{OperationCreated, OperationUpdated, OperationDeleted}
