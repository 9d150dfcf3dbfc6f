package builder

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// waitForDeletion is when a pass that waits for an object to go looks again, should no event come.
const waitForDeletion = 2 * time.Second

// Builder collects the desired children of one owner and applies them, in one pass. Make one for each reconcile with [Engine.For],
// use it in one goroutine, and throw it away. Reconcile reports wrong calls.
type Builder struct {
	engine *Engine
	owner  client.Object
	wants  []Child
	prunes []client.Object
	await  bool
	all    bool // is to be pruned

	rollout RolloutOptions
}

// For starts a pass over an owner, as read from the API server. An owner that is being deleted gets nothing: see
// Reconcile.
func (e *Engine) For(owner client.Object) *Builder {
	return &Builder{engine: e, owner: owner, wants: make([]Child, 0, 16)}
}

// Object adds an object to the desired children: of any kind that the client's scheme knows, or an *unstructured.Unstructured of any
// kind that the cluster knows. Fields left empty are left to the API server and to others; see [Want].
//
// A Job that has ended still exists: desiring it again doesn't run it again. One with spec.ttlSecondsAfterFinished doesn't exist for
// long; it would be created, and run, again. A Secret's stringData is merged into its data, as the API server does.
func (b *Builder) Object(obj client.Object, opts ...ChildOption) *Builder {
	b.wants = append(b.wants, Want(obj, opts...))
	return b
}

// Prune names kinds (empty objects, such as &corev1.ConfigMap{}) of which the owner shall have nothing but what is
// desired in this pass: other objects of the kind that it controls are deleted, once all children are applied.
// Of a kind that the cluster does not know there is nothing to prune.
func (b *Builder) Prune(kinds ...client.Object) *Builder {
	b.prunes = append(b.prunes, kinds...)
	return b
}

// PruneAll prunes all kinds that the owner ever had children of, so that nothing stays behind when the last object of a
// kind is no longer desired, when a kind is renamed, or when a new version of the program no longer knows it. Prune needs
// not be called.
//
// For that the kinds are kept on the owner, in the annotation armature.dev/contains-group-kinds, by a patch before the first child
// of a kind is created. A kind of which nothing is desired any more is listed once more, by one request, and taken
// off. Nothing of this costs a request while the kinds stay the same. The program must be allowed to patch owners, and
// to list and delete also the kinds that it no longer knows, until they are pruned: until then the pass fails. An owner
// that is read in each pass should be read through a cache that sees the engine's own writes. Children from before
// PruneAll was first called are known by the kinds that are desired then.
func (b *Builder) PruneAll() *Builder {
	b.all = true
	return b
}

// Reconcile applies all desired children, then prunes. Objects that are up to date cost no
// request. Each object is tried even if another fails, unless the failure is one that would hit all of its kind (a full
// quota, no permission) or all there are (a server in trouble); the errors come joined, each about an object an
// [*Error]. Nothing is pruned after an error. If the owner is being deleted nothing is done: its children are garbage
// collected. Only [CrossNamespace] children are deleted, and then the finalizer.
//
// The result is valid also beside an error: it has what was done until then.
func (b *Builder) Reconcile(ctx context.Context) (Result, error) {
	return b.reconcile(ctx, nil)
}

// reconcile is Reconcile. A dry run gets what it would write.
func (b *Builder) reconcile(ctx context.Context, dryWrites map[store.Key]*apply.Write) (Result, error) {
	ctx, end := b.engine.tracePass(ctx, b.owner)
	run := b.runPass
	if !kinds.IsNil(b.owner) && b.owner.GetDeletionTimestamp() != nil && b.engine.inventoryOf(b.owner).IsGuarded() {
		run = b.runAnyPass
	}
	res, err := run("", func(p *pass) error {
		p.dryWrites = dryWrites
		return p.carryOut(ctx)
	})
	end(err)
	return res, err
}

// runPass runs one pass, unless the owner is being deleted.
func (b *Builder) runPass(scope string, do func(*pass) error) (Result, error) {
	if !kinds.IsNil(b.owner) && b.owner.GetDeletionTimestamp() != nil {
		b.engine.Forget(b.owner, client.ObjectKeyFromObject(b.owner))
		return Result{}, nil
	}
	return b.runAnyPass(scope, do)
}

// runAnyPass runs one pass and emits its events.
func (b *Builder) runAnyPass(scope string, do func(*pass) error) (Result, error) {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return Result{}, err
	}
	p.instructions = instructions{children: b.wants, prunes: b.prunes, pruneAll: b.all, await: b.await, rollout: b.rollout}
	err = do(p)
	res := p.finish(err)
	if errors.Is(err, errOwnerGone) {
		b.engine.Forget(b.owner, client.ObjectKeyFromObject(b.owner))
		return Result{}, nil
	}
	p.countWaiting(scope, res)
	b.engine.tell(b.owner, scope, res, err)
	return res, err
}

// ConfigMap adds a ConfigMap to the desired children, like [Builder.Object].
func (b *Builder) ConfigMap(o *corev1.ConfigMap, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Service adds a Service to the desired children, like [Builder.Object].
func (b *Builder) Service(o *corev1.Service, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// PersistentVolumeClaim adds a PersistentVolumeClaim to the desired children, like [Builder.Object]. It is deleted with its owner, and
// so is its data; see [Retain].
func (b *Builder) PersistentVolumeClaim(o *corev1.PersistentVolumeClaim, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Deployment adds a Deployment to the desired children, like [Builder.Object].
func (b *Builder) Deployment(o *appsv1.Deployment, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// StatefulSet adds a StatefulSet to the desired children, like [Builder.Object].
func (b *Builder) StatefulSet(o *appsv1.StatefulSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}
