package apply

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/store"
)

// Cluster is the part of a pass over one owner that this package uses: the engine's clients and memory, and the owner.
type Cluster struct {
	// Client writes, and reads from the cache. In a dry run its writes are dry runs.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Name is the field manager.
	Name string
	// Kinds knows the kinds of the objects.
	Kinds *kinds.Registry
	// Memory is the engine's memory between passes.
	Memory *memory.Memory
	// Now returns the current time.
	Now func() time.Time
	// Parallelism limits the concurrent requests.
	Parallelism int
	// DryRun is true if all writes are dry runs. The steps then remember nothing.
	DryRun bool

	// Owner is the owner of the children, OwnerKind its kind and OwnerKey its key.
	Owner     client.Object
	OwnerKind schema.GroupVersionKind
	OwnerKey  store.Key
	// Marks identifies the owner's children that have no owner reference.
	Marks marks.Owner

	// DesiredKeys are the keys of the pass's desired children. Desire adds to it.
	DesiredKeys *store.Store
	// Find returns the observed object of a key, of any owner; nil if there is none.
	Find func(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error)
	// ConfirmOwner returns an error if the owner is gone, so that nothing must be written. The steps call it before writes; creates are
	// the children that don't exist.
	ConfirmOwner func(ctx context.Context, creates []store.Key) error

	slots []slot // for further children
}

// slot is a preallocated pair of a desired object and its write, so that an unchanged child allocates nothing.
type slot struct {
	desired Desired
	write   Write
}

// Allocate allocates the memory for n children at once. Single allocations are a large part of a pass's cost.
func (c *Cluster) Allocate(n int) {
	c.slots = make([]slot, n)
	c.DesiredKeys.Grow(n)
}

// Decide decides about children, and returns a Write for each one that it could compare. It tries every child and joins the errors. The
// writes are valid beside an error. The necessary ones are those that [Cluster.WriteAll] must make.
func (c *Cluster) Decide(ctx context.Context, children []Child) (writes, necessary []*Write, err error) {
	c.Allocate(len(children))
	writes = make([]*Write, 0, len(children))
	var errs []error
	for i := range children {
		w, err := c.decide(ctx, &children[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		writes = append(writes, w)
		if w.Action == Create || w.Action == Apply {
			necessary = append(necessary, w)
		}
	}
	return writes, necessary, errors.Join(errs...)
}

// decide returns the write of a child: its desired object, the observed object of its name, and the action.
func (c *Cluster) decide(ctx context.Context, child *Child) (*Write, error) {
	desired, err := c.Desire(child)
	if err != nil {
		return nil, err
	}
	observed, err := c.Find(ctx, desired.Kind, desired.Key)
	if err != nil {
		return nil, err
	}
	return c.Compare(desired, observed)
}

// WriteAll makes writes in parallel. After a failure that others would share, such as a missing permission for their kind, it omits
// these: see package batch. Of a kind that the cluster didn't know, it first tries one write, the probe.
func (c *Cluster) WriteAll(ctx context.Context, writes []*Write) error {
	if len(writes) == 0 {
		return nil
	}
	if err := c.ConfirmOwner(ctx, created(writes)); err != nil {
		return err
	}
	var failing batch.Kinds
	var errs []error
	try := func(w *Write) error {
		return failing.Try(w.Desired.Key, func() error {
			err := w.Run(ctx, c)
			if err != nil {
				err = w.explain(c, err)
			}
			return err
		})
	}
	probes, others := kinds.Probes(c.Kinds, writes, func(w *Write) schema.GroupVersionKind { return w.Desired.Kind.GVK })
	for _, w := range probes {
		err := try(w)
		if err == nil {
			c.Kinds.NotePresent(w.Desired.Kind.GVK)
		}
		errs = append(errs, err)
	}
	errs = append(errs, batch.Each(len(others), c.Parallelism, func(i int) error { return try(others[i]) }))
	return errors.Join(errs...)
}

// created returns the keys of the children that writes create.
func created(writes []*Write) []store.Key {
	var keys []store.Key
	for _, w := range writes {
		if w.Action == Create {
			keys = append(keys, w.Desired.Key)
		}
	}
	return keys
}

// readLive reads an object past the cache, nil if it doesn't exist.
func (c *Cluster) readLive(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	observed, err := sources.Reader{From: c.Live, Kinds: c.Kinds}.Get(ctx, k, key)
	if err != nil && !apierrors.IsNotFound(err) { // also for a missing kind
		return nil, &failure.Error{Key: key, Operation: "read", Err: err}
	}
	return observed, nil
}
