package builder

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/rollout"
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

// Rollout sets how the builder rolls out changes of the children that are [InPhase]. Default: no child is in a phase.
func (b *Builder) Rollout(options rollout.Options) *Builder {
	b.rollout = options
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

// Get reads a child by its name and obj's kind into obj, as a copy. An object that the owner doesn't control is [ErrNotOwned]. For a
// missing object apierrors.IsNotFound is true. Only the option [CrossNamespace] matters: the child is then in the namespace of obj.
func (b *Builder) Get(ctx context.Context, name string, obj client.Object, opts ...ChildOption) error {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return err
	}
	if kinds.IsNil(obj) {
		return fmt.Errorf("%w: an object is nil (%T)", ErrMisuse, obj)
	}
	obj.SetName(name)
	return publicError(p.get(ctx, Want(obj, opts...)))
}

// get reads a child into the given object.
func (p *pass) get(ctx context.Context, like Child) error {
	_, key, err := p.cluster.KeyOf(&like.desired)
	if err != nil {
		return err
	}
	if err := p.engine.client.Get(ctx, key.NamespacedName(), like.desired.Object); err != nil {
		return &Error{Key: key, Operation: "read", cause: err}
	}
	if !p.isChild(like, like.desired.Object) {
		return failure.NotOwned("read", key, like.desired.Object)
	}
	return nil
}

// isChild reports whether an object is the owner's, in the namespace that the options ask for.
func (p *pass) isChild(like Child, obj client.Object) bool {
	if like.desired.CrossNamespace {
		return p.observed.IsCrossNamespace(obj, like.desired.FormerManagers())
	}
	return metav1.IsControlledBy(obj, p.owner)
}

// List reads copies of all the owner's children of a kind into list. Default: those in the owner's namespace; with [CrossNamespace],
// all others.
func (b *Builder) List(ctx context.Context, list client.ObjectList, opts ...ChildOption) error {
	p, err := b.engine.newPass(b.owner)
	if err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, b.engine.client.Scheme())
	if err != nil {
		return fmt.Errorf("%w: %T is of no kind that the client's scheme knows: %w", ErrMisuse, list, err)
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	_, untyped := list.(runtime.Unstructured)
	k, like := kinds.Kind{GVK: gvk, Untyped: untyped}, Want(nil, opts...)
	among := client.ListOption(client.InNamespace(p.owner.GetNamespace()))
	if like.desired.CrossNamespace {
		among = b.engine.crossNamespace.Among(p.owner.GetUID(), k)
	}
	if err := b.engine.client.List(ctx, list, among, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list %s owned by %s: %w", gvk.GroupKind(), p.ownerKey, err)
	}
	var mine []runtime.Object
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && p.isChild(like, obj) {
			mine = append(mine, o.DeepCopyObject())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return meta.SetList(list, mine)
}

// Create creates a child at once. It fails with AlreadyExists if the cache shows an object of its name. If the object exists and the
// cache doesn't show it yet, Create applies the child. It creates nothing for an owner that is gone. To know that, it usually
// reads the owner through [Options].Reader first, because a call about one child can't know whether others have disappeared. A child
// that is [InPhase] is [ErrMisuse] in Create and Update, because it must wait for earlier phases. To create or apply a child, whatever
// exists, use [Builder.Object] and Reconcile. Unlike Reconcile, Create also writes for a paused owner: it ignores the annotation
// armature.dev/paused.
func (b *Builder) Create(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.one(ctx, "create", Want(obj, opts...), func(d *apply.Desired, observed client.Object) error {
		if observed == nil {
			return nil
		}
		return apierrors.NewAlreadyExists(resourceOf(d), d.Key.Name)
	})
}

// Update applies an existing child at once. It fails with NotFound if the child doesn't exist. Unlike Reconcile, Update also writes for a
// paused owner: it ignores the annotation armature.dev/paused.
func (b *Builder) Update(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.one(ctx, "apply", Want(obj, opts...), func(d *apply.Desired, observed client.Object) error {
		if observed != nil {
			return nil
		}
		return apierrors.NewNotFound(resourceOf(d), d.Key.Name)
	})
}

// Delete deletes a child and its dependents, also for a terminating owner. A missing child is no error; an object that the owner
// doesn't control is [ErrNotOwned]. Only the option [CrossNamespace] matters. Unlike Reconcile, Delete also deletes for a paused owner: it
// ignores the annotation armature.dev/paused.
func (b *Builder) Delete(ctx context.Context, obj client.Object, opts ...ChildOption) (Result, error) {
	return b.runAnyPass("delete "+nameOf(obj), func(p *pass) error {
		if kinds.IsNil(obj) {
			return fmt.Errorf("%w: an object is nil (%T)", ErrMisuse, obj)
		}
		found := obj.DeepCopyObject().(client.Object)
		err := p.get(ctx, Want(found, opts...))
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return p.deleteGiven(ctx, []client.Object{found})
	})
}

// one applies a single child, unless allow returns an error for the observed object. Like Reconcile, it does nothing for a terminating
// owner, and it records the child's kind in the inventory.
func (b *Builder) one(
	ctx context.Context, operation string, want Child, allow func(d *apply.Desired, observed client.Object) error,
) (Result, error) {
	return b.runPass("write "+nameOf(want.desired.Object), func(p *pass) error {
		if err := refusePhases(want); err != nil {
			return err
		}
		d, err := p.cluster.Desire(&want.desired)
		if err != nil {
			return err
		}
		observed, err := p.observed.Find(ctx, d.Kind, d.Key)
		if err != nil {
			return err
		}
		if err := allow(d, observed); err != nil {
			return &Error{Key: d.Key, Operation: operation, cause: err}
		}
		if err := p.recordKinds(ctx, []Child{want}); err != nil {
			return err
		}
		w, err := p.cluster.Compare(d, observed)
		if err != nil {
			return err
		}
		return p.write(ctx, []*apply.Write{w})
	})
}

// nameOf returns a name for an object in errors, also for nil.
func nameOf(obj client.Object) string {
	if kinds.IsNil(obj) {
		return ""
	}
	return fmt.Sprintf("%T %s/%s", obj, obj.GetNamespace(), obj.GetName())
}

// resourceOf returns the kind in the place where API errors name a resource.
func resourceOf(d *apply.Desired) schema.GroupResource {
	return schema.GroupResource{Group: d.Key.Group, Resource: d.Key.Kind}
}
