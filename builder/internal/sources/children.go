package sources

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Children are the children of one owner as one pass observes them.
type Children struct {
	// Reader reads from the cache.
	Reader
	// Memory is the engine's memory between passes.
	Memory *memory.Memory
	// ByController and CrossNamespace are the engine's indexes.
	ByController   *ByController
	CrossNamespace *CrossNamespace
	// Owner is the owner, OwnerKey its key, and Marks identifies its children that have no owner reference.
	Owner    client.Object
	OwnerKey store.Key
	Marks    marks.Owner
	// DryRun is true if nothing is remembered for later passes.
	DryRun bool

	// ByKey has the observed children. The cache shares the objects: read only.
	ByKey map[store.Key]client.Object

	listed, listedCrossNamespace map[kinds.Kind]bool

	added int // created or adopted children in this pass, minus those that are deleted to be created again
}

// Observe reads the owner's children of some kinds, each once a pass.
func (c *Children) Observe(ctx context.Context, of ...kinds.Kind) error {
	lists, n := make([][]client.Object, len(of)), 0
	for i, k := range of {
		if c.listed[k] {
			continue
		}
		list, err := c.listOwned(ctx, k)
		if err != nil && !kinds.IsGone(err) { // an unknown kind has no objects; a write of one returns the error
			return err
		}
		c.note(k)
		lists[i], n = list, n+len(list)
	}
	if len(c.ByKey) == 0 {
		c.ByKey = make(map[store.Key]client.Object, n) // preallocated: growing it is a large part of a pass's cost
	}
	for i, k := range of {
		for _, obj := range lists[i] {
			c.ByKey[k.Key(obj)] = obj
		}
	}
	return nil
}

// note records that the pass has the children of a kind, so that no later step lists it.
func (c *Children) note(k kinds.Kind) {
	if c.listed == nil {
		c.listed = map[kinds.Kind]bool{}
	}
	c.listed[k] = true
}

// listOwned returns the owner's children of one kind.
func (c *Children) listOwned(ctx context.Context, k kinds.Kind) ([]client.Object, error) {
	if err := c.awaitOwnWrites(ctx, k); err != nil {
		return nil, err
	}
	owned, err := c.ByController.List(ctx, c.From, c.Owner.GetUID(), c.Owner.GetNamespace(), k)
	if err != nil {
		return nil, fmt.Errorf("observe the children of %s: %w", c.Owner.GetName(), err)
	}
	return owned, nil
}

// awaitOwnWrites waits until the cache has what earlier passes wrote for the owner. It reads each of these objects by name: with
// read-your-writes consistency, such a read waits for the writes of that object, and of no other.
func (c *Children) awaitOwnWrites(ctx context.Context, k kinds.Kind) error {
	keys := c.Memory.Written.Take(c.Owner.GetUID(), k)
	if len(keys) == 0 {
		return nil
	}
	into, err := c.Kinds.Empty(k)
	if err != nil {
		return err
	}
	for i, key := range keys {
		err := c.From.Get(ctx, key.NamespacedName(), into, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			c.Memory.Written.Add(c.Owner.GetUID(), k, keys[i:]...)
			return &failure.Error{Key: key, Operation: "read", Err: err}
		}
	}
	return nil
}

// ObserveControllable is Observe of a kind, if the owner can control objects of it.
func (c *Children) ObserveControllable(ctx context.Context, k kinds.Kind) error {
	like, err := c.Kinds.Empty(k)
	if err != nil {
		return err
	}
	if namespaced, err := c.Kinds.IsNamespaced(k, like); err != nil || (!namespaced && c.Owner.GetNamespace() != "") {
		return err
	}
	return c.Observe(ctx, k)
}

// ObserveCrossNamespace reads the owner's cross-namespace children of one kind, once a pass.
func (c *Children) ObserveCrossNamespace(ctx context.Context, k kinds.Kind) error {
	if c.listedCrossNamespace[k] {
		return nil
	}
	if err := c.listCrossNamespace(ctx, k, func(obj client.Object) bool { return c.IsCrossNamespace(obj, nil) }); err != nil {
		return err
	}
	if c.listedCrossNamespace == nil {
		c.listedCrossNamespace = map[kinds.Kind]bool{}
	}
	c.listedCrossNamespace[k] = true
	return nil
}

// ObserveFormer reads the owner's cross-namespace children of one kind that only former field managers have marked. The view can't have
// them, because the plan names the former managers.
func (c *Children) ObserveFormer(ctx context.Context, k kinds.Kind, former []string) error {
	if len(former) == 0 {
		return nil
	}
	return c.listCrossNamespace(ctx, k, func(obj client.Object) bool {
		return !c.IsCrossNamespace(obj, nil) && c.IsCrossNamespace(obj, former)
	})
}

func (c *Children) listCrossNamespace(ctx context.Context, k kinds.Kind, isChild func(client.Object) bool) error {
	found, err := c.CrossNamespace.List(ctx, c.From, c.Owner.GetUID(), k, isChild)
	if err != nil {
		return fmt.Errorf("observe the children of %s in other namespaces: %w", c.OwnerKey, err)
	}
	for _, obj := range found {
		c.ByKey[k.Key(obj)] = obj
	}
	return nil
}

// Find returns the object of a key, of any owner, from the cache, or nil if it doesn't exist.
func (c *Children) Find(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	if c.ByController.Has(k) {
		if err := c.Observe(ctx, k); err != nil {
			return nil, err
		}
	}
	if observed := c.ByKey[key]; observed != nil && kinds.IsUntyped(observed) == k.Untyped {
		return observed, nil
	}
	observed, err := c.Get(ctx, k, key)
	if err != nil {
		err = &failure.Error{Key: key, Operation: "read", Err: err}
	}
	if observed != nil {
		c.remember(key)
	}
	return observed, c.Kinds.NoteMissing(k.GVK, err)
}

// Owns reports whether the owner owns an object, in any namespace.
func (c *Children) Owns(obj client.Object) bool {
	return metav1.IsControlledBy(obj, c.Owner) || c.IsCrossNamespace(obj, nil)
}

// IsCrossNamespace reports whether an object is a cross-namespace child of the owner, also under one of the former field managers.
func (c *Children) IsCrossNamespace(obj client.Object, former []string) bool {
	return c.Marks.IsCrossNamespace(obj, former)
}

// Of returns the observed objects of keys.
func (c *Children) Of(keys []store.Key) []client.Object {
	objs := make([]client.Object, 0, len(keys))
	for _, key := range keys {
		objs = append(objs, c.ByKey[key])
	}
	return objs
}

// Present counts the observed children that aren't terminating.
func (c *Children) Present() (n int) {
	for _, child := range c.ByKey {
		if child.GetDeletionTimestamp() == nil {
			n++
		}
	}
	return n
}

// RememberCount records the number of children after a pass over all of them, for the next pass.
func (c *Children) RememberCount() {
	if !c.DryRun {
		c.Memory.Counts.Add(c.Owner.GetUID(), c.Present()+c.added)
	}
}

func (c *Children) remember(key store.Key) {
	if !c.DryRun {
		c.Memory.Observed.Add(memory.Child{Owner: c.Owner.GetUID(), Key: key}, struct{}{})
	}
}

// Changed notes an object that the pass has written, and for which reason.
func (c *Children) Changed(reason string, k kinds.Kind, key store.Key) {
	c.Wrote(k, key)
	switch {
	case !c.listed[k] && !c.listedCrossNamespace[k]:
		c.remember(key)
	case reason == events.ReasonCreated, reason == events.ReasonAdopted:
		c.added++
	case reason == events.ReasonRecreating: // a pruned child isn't in ByKey any more
		c.added--
	}
}

// Wrote notes a write, for which the next pass waits.
func (c *Children) Wrote(k kinds.Kind, key store.Key) {
	if !c.DryRun && c.ByController.Has(k) {
		c.Memory.Written.Add(c.Owner.GetUID(), k, key)
	}
}

// CopyFrom copies what another pass over the owner has observed.
func (c *Children) CopyFrom(other *Children) {
	c.ByKey, c.listed = maps.Clone(other.ByKey), maps.Clone(other.listed)
	c.listedCrossNamespace = maps.Clone(other.listedCrossNamespace)
}
