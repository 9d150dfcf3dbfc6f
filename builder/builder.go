package builder

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// waitForDeletion is when a pass that waits for an object to go looks again, should no event come.
const waitForDeletion = 2 * time.Second

// Builder collects what one owner wants and makes it so, in one pass. Make one for each reconcile with [Engine.For],
// use it in one goroutine, and throw it away. Wrong calls are kept and reported by Reconcile.
type Builder struct {
	engine *Engine
	owner  client.Object
	wants  []Child
	prunes []client.Object
}

// For starts a pass over an owner, as read from the API server. Owners being deleted get nothing: see Reconcile.
func (e *Engine) For(owner client.Object) *Builder {
	return &Builder{engine: e, owner: owner}
}

// Object wants an object of any kind that the client's scheme knows, or an *unstructured.Unstructured.
func (b *Builder) Object(obj client.Object) *Builder {
	b.wants = append(b.wants, Want(obj))
	return b
}

// Prune names kinds (empty objects, such as &corev1.ConfigMap{}) of which the owner shall have nothing but what is
// wanted in this pass: other objects of the kind that it controls are deleted, once all that is wanted was applied.
func (b *Builder) Prune(kinds ...client.Object) *Builder {
	b.prunes = append(b.prunes, kinds...)
	return b
}

// Reconcile makes everything that is wanted exist as wanted, then prunes. Objects that are already as wanted cost no
// request. Each object is tried even if another fails; the errors come joined, each an [*Error]. Nothing is pruned
// after an error. If the owner is being deleted nothing is done: its children are garbage collected.
//
// The result is valid also beside an error: it tells what was done until then.
func (b *Builder) Reconcile(ctx context.Context) (Result, error) {
	return b.run(ctx, b.wants, b.prunes)
}

// ReconcileStore only prunes: of the kinds given to Prune, it deletes what the owner controls and does not want.
func (b *Builder) ReconcileStore(ctx context.Context) (Result, error) {
	return b.runPass(ctx, func(p *pass) error {
		for _, want := range b.wants {
			if isNil(want.object) {
				return fmt.Errorf("%w: a wanted object is nil (%T)", ErrMisuse, want.object)
			}
			key, err := p.key(want.object)
			if err != nil {
				return err
			}
			p.wanted.Put(key)
		}
		return p.prune(ctx, b.prunes)
	})
}

// reconcileKind applies what is wanted of one kind and prunes nothing.
func (b *Builder) reconcileKind(ctx context.Context, kind schema.GroupKind) (Result, error) {
	var wants []Child
	for _, w := range b.wants {
		if isNil(w.object) {
			continue
		}
		if gvk, err := apiutil.GVKForObject(w.object, b.engine.client.Scheme()); err == nil && gvk.GroupKind() == kind {
			wants = append(wants, w)
		}
	}
	return b.run(ctx, wants, nil)
}

func (b *Builder) run(ctx context.Context, wants []Child, prunes []client.Object) (Result, error) {
	return b.runPass(ctx, func(p *pass) error {
		if err := p.apply(ctx, wants); err != nil {
			return err
		}
		return p.prune(ctx, prunes)
	})
}

// runPass runs one pass and tells of it.
func (b *Builder) runPass(ctx context.Context, do func(*pass) error) (Result, error) {
	if isNil(b.owner) {
		return Result{}, fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	if b.owner.GetDeletionTimestamp() != nil {
		return Result{}, nil
	}
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return Result{}, err
	}
	err = do(p)
	res := p.finish()
	b.engine.tell(b.owner, res, err)
	return res, err
}
