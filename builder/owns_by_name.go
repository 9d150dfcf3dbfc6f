package builder

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/store"
)

// byNameFor is how long a child that was read by name is taken for unchanged while the owner's spec stays the same.
const byNameFor = time.Minute

// OwnsByName names a kind of which owners have children in their own namespace, under names that follow from the owner: names
// returns them, of which empty ones are none. The children are read from the API server by name. They are neither listed nor
// watched, so the operator's role needs the verb get and neither list nor watch. Use it for Secrets: RBAC can't tell a list of
// their metadata from a list of their content, and whoever may list them reads them all.
//
// The view and the plan have these children as those of [Operator.Owns]. There are two differences. A child under a name that
// names doesn't return isn't in the view, and isn't pruned. And a change of a child causes no pass: it is seen by the next pass
// that reads the child. A pass reads it if the last read is a minute old, if the owner's generation has changed, or if the last pass has
// written such a child or failed; a pass that didn't read it is followed by one that does. To save requests, names should return
// nothing for an owner that has ended. [Plan].PruneAll lists each kind that the plan no longer has, so it needs the verb list. The
// kind must have a Go type.
//
//	OwnsByName(&corev1.Secret{}, func(app *v1.WebApp) []string { return []string{app.Name + "-key"} })
func (o *Operator[T]) OwnsByName(kind client.Object, names func(owner T) []string) *Operator[T] {
	o.byName = append(o.byName, kindByName[T]{like: kind, names: names})
	return o
}

// kindByName is a kind whose children are read by name.
type kindByName[T client.Object] struct {
	kind  kinds.Kind
	like  client.Object
	names func(T) []string
}

// childrenByName reads the children of the kinds that an operator OwnsByName.
type childrenByName[T client.Object] struct {
	kinds []kindByName[T]
	// known has the children as they were read last. Forgotten: one read.
	known *memory.Recent[memory.Child, knownChild]
}

// knownChild is a child as it was read.
type knownChild struct {
	object     client.Object // nil: the owner has none of this name
	generation int64         // the owner's
	at         time.Time
}

// checkByName checks the description, and lets the engine's client ask the API server for these kinds.
func (o *Operator[T]) checkByName() (childrenByName[T], error) {
	all := childrenByName[T]{known: memory.NewRecent[memory.Child, knownChild]()}
	var errs []error
	uncached := map[kinds.Kind]bool{}
	for _, n := range o.byName {
		k, err := o.engine.kinds.Of(n.like)
		if err == nil && (!o.engine.kinds.IsTyped(k, n.like) || n.names == nil) {
			err = fmt.Errorf("%w: %s needs its own Go type and a function that returns names", ErrMisuse, k.GVK.Kind)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("OwnsByName: %w", err))
		}
		n.kind = k
		uncached[k] = true
		all.kinds = append(all.kinds, n)
	}
	if with, ok := o.engine.client.(telemetry.Client); ok && len(uncached) > 0 {
		with.Client = uncachedKinds{with.Client, o.engine.live, o.engine.kinds, uncached}
		o.engine.client = with
	}
	return all, errors.Join(errs...)
}

// observe adds to a pass the children that the owner has under the names.
func (c childrenByName[T]) observe(ctx context.Context, p *pass, owner T) error {
	for _, n := range c.kinds {
		for _, name := range n.names(owner) {
			if name == "" {
				continue
			}
			if err := c.observeOne(ctx, p, n.kind, store.KeyOf(n.kind.GVK, owner.GetNamespace(), name)); err != nil {
				return err
			}
		}
		p.listed[n.kind] = true // all that there is to see
	}
	return nil
}

func (c childrenByName[T]) observeOne(ctx context.Context, p *pass, k kinds.Kind, key store.Key) error {
	at := memory.Child{Owner: p.owner.GetUID(), Key: key}
	known, ok := c.known.Get(at)
	now := p.engine.now()
	left := byNameFor - now.Sub(known.at)
	if ok && left > 0 && left <= byNameFor && known.generation == p.owner.GetGeneration() {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, left)
	} else {
		found, err := p.engine.read(ctx, p.engine.live, k, key)
		if err != nil {
			return err
		}
		if found != nil && !metav1.IsControlledBy(found, p.owner) {
			found = nil
		}
		known = knownChild{found, p.owner.GetGeneration(), now}
		c.known.Remove(at)
		if found == nil || found.GetDeletionTimestamp() == nil { // of a deletion nothing tells when it is done
			c.known.Add(at, known)
		}
	}
	if known.object != nil {
		p.observed[key] = known.object
	}
	return nil
}

// learn forgets what is stale after a pass, and asks for a pass after a write: there is no watch that causes one.
func (c childrenByName[T]) learn(owner T, res Result, err error) Result {
	wrote := false
	for _, n := range c.kinds {
		for _, change := range res.Changes {
			wrote = wrote || change.Key.GroupKind() == n.kind.GVK.GroupKind()
		}
	}
	if !wrote && err == nil {
		return res
	}
	for _, n := range c.kinds {
		for _, name := range n.names(owner) {
			c.known.Remove(memory.Child{Owner: owner.GetUID(), Key: store.KeyOf(n.kind.GVK, owner.GetNamespace(), name)})
		}
	}
	if wrote {
		res.RequeueAfter = sooner(res.RequeueAfter, conflictDelay)
	}
	return res
}

// uncachedKinds is a client that reads some kinds past the cache, and after a write of which no read waits for the cache: that
// would list and watch them.
type uncachedKinds struct {
	client.Client
	live     client.Reader
	kinds    *kinds.Registry
	uncached map[kinds.Kind]bool
}

func (c uncachedKinds) has(obj client.Object) bool {
	k, err := c.kinds.Of(obj)
	return err == nil && c.uncached[k]
}

func (c uncachedKinds) Get(ctx context.Context, key types.NamespacedName, obj client.Object, opts ...client.GetOption) error {
	if c.has(obj) {
		return c.live.Get(ctx, key, obj, opts...)
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c uncachedKinds) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c uncachedKinds) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c uncachedKinds) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if c.has(obj) {
		opts = append(opts, client.DisableReadYourWritesConsistency)
	}
	return c.Client.Delete(ctx, obj, opts...)
}
