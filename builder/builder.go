package builder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	failed error // of earlier calls
}

// For starts a pass over an owner, as read from the API server. An owner that is being deleted gets nothing: see
// Reconcile.
func (e *Engine) For(owner client.Object) *Builder {
	return &Builder{engine: e, owner: owner}
}

// Object wants an object of any kind that the client's scheme knows, or an *unstructured.Unstructured of any kind that
// the cluster knows. Fields left empty are left to the API server and to others; see [Want].
func (b *Builder) Object(obj client.Object, opts ...ChildOption) *Builder {
	b.wants = append(b.wants, Want(obj, opts...))
	return b
}

// Prune names kinds (empty objects, such as &corev1.ConfigMap{}) of which the owner shall have nothing but what is
// wanted in this pass: other objects of the kind that it controls are deleted, once all that is wanted was applied.
func (b *Builder) Prune(kinds ...client.Object) *Builder {
	b.prunes = append(b.prunes, kinds...)
	return b
}

// Reconcile makes everything that is wanted exist as wanted, then prunes. Objects that are already as wanted cost no
// request. Each object is tried even if another fails, unless the failure is one that would hit all of its kind (a full
// quota, no permission) or all there are (a server in trouble); the errors come joined, each about an object an [*Error]. Nothing is pruned after an error. If
// the owner is being deleted nothing is done: its children are garbage collected.
//
// The result is valid also beside an error: it tells what was done until then.
func (b *Builder) Reconcile(ctx context.Context) (Result, error) {
	return b.runPass("", func(p *pass) error {
		if err := p.apply(ctx, b.wants); err != nil {
			return err
		}
		return p.prune(ctx, b.prunes)
	})
}

// ReconcileStore only prunes: of the kinds given to Prune, it deletes what the owner controls and does not want. It
// refuses to after an error of this Builder.
func (b *Builder) ReconcileStore(ctx context.Context) (Result, error) {
	return b.runPass("prune", func(p *pass) error {
		if b.failed != nil {
			return fmt.Errorf("nothing is pruned after an error: %w", b.failed)
		}
		for _, want := range b.wants {
			_, key, err := p.keyOf(want.object)
			if err != nil {
				return err
			}
			p.wanted.Put(key)
		}
		return p.prune(ctx, b.prunes)
	})
}

// reconcileKind applies what is wanted of one kind and prunes nothing. What is of no kind is reported by every one.
func (b *Builder) reconcileKind(ctx context.Context, of schema.GroupKind) (Result, error) {
	return b.runPass(of.String(), func(p *pass) error {
		var wants []Child
		for _, w := range b.wants {
			if k, err := p.engine.kinds.of(w.object); err != nil || k.gvk.GroupKind() == of {
				wants = append(wants, w)
			}
		}
		return p.apply(ctx, wants)
	})
}

// runPass runs one pass, unless the owner is being deleted.
func (b *Builder) runPass(scope string, do func(*pass) error) (Result, error) {
	if !isNil(b.owner) && b.owner.GetDeletionTimestamp() != nil {
		return Result{}, nil
	}
	return b.runAnyPass(scope, do)
}

// runAnyPass runs one pass, tells of it, and remembers whether it failed.
func (b *Builder) runAnyPass(scope string, do func(*pass) error) (Result, error) {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return Result{}, err
	}
	err = do(p)
	res := p.finish()
	b.engine.tell(b.owner, scope, res, err)
	b.failed = errors.Join(b.failed, err)
	return res, err
}
