package builder

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// waitForDeletion is when a pass that waits for an object to go looks again, should no event come.
const waitForDeletion = 2 * time.Second

// scopePrune is the scope of a pass that only prunes.
const scopePrune = "prune"

// Builder collects the desired children of one owner and applies them, in one pass. Make one for each reconcile with [Engine.For],
// use it in one goroutine, and throw it away. Wrong calls are kept and reported by Reconcile.
type Builder struct {
	engine *Engine
	owner  client.Object
	wants  []Child
	prunes []client.Object
	await  bool
	all    bool // is to be pruned

	rollout RolloutOptions
	failed  error // of earlier calls
}

// For starts a pass over an owner, as read from the API server. An owner that is being deleted gets nothing: see
// Reconcile.
func (e *Engine) For(owner client.Object) *Builder {
	return &Builder{engine: e, owner: owner, wants: make([]Child, 0, 16)}
}

// Object wants an object of any kind that the client's scheme knows, or an *unstructured.Unstructured of any kind that
// the cluster knows. Fields left empty are left to the API server and to others; see [Want].
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
// For that the kinds are kept on the owner, in the annotation [AnnotationGroupKinds], by a patch before the first child
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
func (b *Builder) reconcile(ctx context.Context, dryWrites map[store.Key]*write) (Result, error) {
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

// ReconcileStore only prunes: of the kinds given to Prune, it deletes what the owner controls and is not desired. It
// refuses to after an error of this Builder.
func (b *Builder) ReconcileStore(ctx context.Context) (Result, error) {
	ctx, end := b.engine.tracePass(ctx, b.owner)
	res, err := b.runPass(scopePrune, func(p *pass) error {
		if b.failed != nil {
			return fmt.Errorf("nothing is pruned after an error: %w", b.failed)
		}
		if err := b.rollout.refuse(b.wants); err != nil {
			return err
		}
		p.kinds = p.engine.kindsOf(b.wants, b.all)
		for _, want := range b.wants {
			_, key, err := p.keyOf(want)
			if err != nil {
				return err
			}
			p.desired.Put(key)
		}
		return p.prune(ctx, b.prunes)
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

// runAnyPass runs one pass, emits its events, and remembers whether it failed.
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
	b.failed = errors.Join(b.failed, err)
	return res, err
}

// ConfigMap wants a ConfigMap.
func (b *Builder) ConfigMap(o *corev1.ConfigMap, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Secret wants a Secret. stringData is merged into data, as the API server does.
func (b *Builder) Secret(o *corev1.Secret, opts ...ChildOption) *Builder { return b.Object(o, opts...) }

// Service wants a Service.
func (b *Builder) Service(o *corev1.Service, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// ServiceAccount wants a ServiceAccount.
func (b *Builder) ServiceAccount(o *corev1.ServiceAccount, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// PersistentVolumeClaim wants a PersistentVolumeClaim. As a child it goes with its owner, and so does its data.
func (b *Builder) PersistentVolumeClaim(o *corev1.PersistentVolumeClaim, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Deployment wants a Deployment.
func (b *Builder) Deployment(o *appsv1.Deployment, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// StatefulSet wants a StatefulSet.
func (b *Builder) StatefulSet(o *appsv1.StatefulSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// DaemonSet wants a DaemonSet.
func (b *Builder) DaemonSet(o *appsv1.DaemonSet, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// Job wants a Job. A Job that has ended still exists: desiring it again doesn't run it again. One with
// spec.ttlSecondsAfterFinished doesn't for long; it would be created, and run, again.
func (b *Builder) Job(o *batchv1.Job, opts ...ChildOption) *Builder { return b.Object(o, opts...) }

// CronJob wants a CronJob.
func (b *Builder) CronJob(o *batchv1.CronJob, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// PodDisruptionBudget wants a PodDisruptionBudget.
func (b *Builder) PodDisruptionBudget(o *policyv1.PodDisruptionBudget, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}

// NetworkPolicy wants a NetworkPolicy.
func (b *Builder) NetworkPolicy(o *networkingv1.NetworkPolicy, opts ...ChildOption) *Builder {
	return b.Object(o, opts...)
}
