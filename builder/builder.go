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
)

// waitForDeletion is the delay until the next pass while an object that a child needs to replace is terminating. An event may cause an
// earlier pass.
const waitForDeletion = 2 * time.Second

// Builder collects the desired children of one owner and applies them, in one pass. Make one for each reconcile with [Engine.For], use
// it in one goroutine, and discard it. Reconcile returns the errors of wrong calls.
type Builder struct {
	engine *Engine
	owner  client.Object
	instructions
}

// For starts a pass over an owner, as read from the API server. Reconcile applies nothing for an owner that is terminating.
func (e *Engine) For(owner client.Object) *Builder {
	return &Builder{engine: e, owner: owner, instructions: instructions{children: make([]Child, 0, 16), await: true}}
}

// Object adds an object to the desired children. Its kind is any kind that the client's scheme knows; an *unstructured.Unstructured
// has any kind that the cluster knows. Empty fields belong to the API server and to other writers; see [Want].
//
// A Job that has ended still exists: desiring it again doesn't run it again. The TTL controller deletes a Job with
// spec.ttlSecondsAfterFinished, and the next pass would create and run it again. The builder merges a Secret's stringData into its
// data, as the API server does.
func (b *Builder) Object(obj client.Object, opts ...ChildOption) *Builder {
	b.children = append(b.children, Want(obj, opts...))
	return b
}

// Prune names kinds to prune, as empty objects such as &corev1.ConfigMap{}. After it has applied all children, the builder deletes the
// other objects of these kinds that the owner controls. It ignores a kind that the cluster doesn't know.
func (b *Builder) Prune(kinds ...client.Object) *Builder {
	b.prunes = append(b.prunes, kinds...)
	return b
}

// PruneAll prunes all kinds that the owner ever had children of, so that Prune isn't needed. It finds stale objects also when the last
// object of a kind is no longer desired, when a kind is renamed, and when a new version of the program doesn't know a kind any more.
//
// The builder records the kinds in the owner's annotation armature.dev/contains-group-kinds. It patches the annotation before it
// creates the first child of a kind. When no object of a kind is desired any more, it lists the kind once and removes it from the
// annotation. While the kinds stay the same, this costs no request. The program needs the permission to patch owners, and to list and
// delete the recorded kinds, including those that it no longer knows; without it the pass fails. Read the owner through a cache that
// sees the engine's own writes. Children from before the first call of PruneAll are found only if their kind is desired at that time.
func (b *Builder) PruneAll() *Builder {
	b.pruneAll = true
	return b
}

// Reconcile applies all desired children, then prunes. An unchanged object costs no request. If one object fails, the builder still
// tries the others, unless the failure concerns all objects of the kind (an exceeded quota, a missing permission) or all requests (a
// failing server). It joins the errors; each error about an object is an [*Error]. It prunes nothing after an error. If a call is
// [ErrMisuse], such as a child twice, it applies no child.
//
// [Result].Pending lists the children that aren't ready, by the rules of package readiness or of [ReadyWhen]. That costs no request,
// because the cache has their state. A PersistentVolumeClaim of a class that binds at once counts as unused only after the first 10
// seconds of its life.
//
// If the owner is terminating, Reconcile applies nothing: the garbage collector deletes the children. It deletes only [CrossNamespace]
// children, and then removes the finalizer.
//
// If the annotation armature.dev/paused of the owner is "true", Reconcile does nothing, and the result's conditions are Paused.
//
// The result is valid beside an error: it has the changes that were made before the error.
func (b *Builder) Reconcile(ctx context.Context) (Result, error) {
	if !kinds.IsNil(b.owner) && isPaused(b.owner) {
		return Result{paused: true}, nil
	}
	ctx, end := b.engine.tracePass(ctx, b.owner)
	run := b.runPass
	if !kinds.IsNil(b.owner) && b.owner.GetDeletionTimestamp() != nil && b.engine.inventoryOf(b.owner).IsGuarded() {
		run = b.runAnyPass
	}
	res, err := run("", func(p *pass) error { return p.carryOut(ctx) })
	end(err)
	return res, err
}

// runPass runs one pass, unless the owner is terminating.
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
	p.instructions = b.instructions
	err = publicError(do(p))
	res := p.finish(err)
	if errors.Is(err, apply.ErrOwnerGone) {
		b.engine.Forget(b.owner, client.ObjectKeyFromObject(b.owner))
		return Result{}, nil
	}
	p.countWaiting(scope, res)
	b.engine.emitResult(b.owner, scope, res, err)
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

// Deployment adds a Deployment to the desired children, like [Builder.Object].
func (b *Builder) Deployment(o *appsv1.Deployment, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// StatefulSet adds a StatefulSet to the desired children, like [Builder.Object].
func (b *Builder) StatefulSet(o *appsv1.StatefulSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}
