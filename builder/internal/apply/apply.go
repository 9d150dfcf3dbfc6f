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
	// Live reads past the cache if ReadsLive is true, otherwise as Client.
	Live      client.Reader
	ReadsLive bool
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
	DesiredKeys store.Store

	slots []slot // for further children

	ownerConfirmed, ownerGone bool // the API server has the owner; it is deleted
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

// WriteAll makes writes in parallel. After a failure that others would share, such as a missing permission for their kind, it omits
// these: see package batch. Of a kind that the cluster didn't know, it first tries one write, the probe.
func (c *Cluster) WriteAll(ctx context.Context, writes []*Write) error {
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

// ReadLive reads an object past the cache, nil if it doesn't exist.
func (c *Cluster) ReadLive(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	observed, err := sources.Reader{From: c.Live, Kinds: c.Kinds}.Get(ctx, k, key)
	if err != nil && !apierrors.IsNotFound(err) { // also for a missing kind
		return nil, &failure.Error{Key: key, Operation: "read", Err: err}
	}
	return observed, nil
}
