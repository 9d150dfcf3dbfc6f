package sources

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/internal/wellknown"
)

// CrossNamespace finds the cross-namespace children of owners, by the label with the owner's UID: in an index of the cache, or without
// an index by a list with that label. It is safe for concurrent use.
type CrossNamespace struct {
	kinds *kinds.Registry
	field string

	mu      sync.RWMutex
	indexed map[kinds.Kind]bool
}

// NewCrossNamespace returns a CrossNamespace for an engine. The engine's name is part of the index's name, because two engines may own
// the same kind.
func NewCrossNamespace(r *kinds.Registry, engine string) *CrossNamespace {
	return &CrossNamespace{kinds: r, field: "armature.ownerUID/" + engine, indexed: map[kinds.Kind]bool{}}
}

// Add indexes a kind. like is an empty object of the kind.
func (c *CrossNamespace) Add(ctx context.Context, indexer client.FieldIndexer, k kinds.Kind, like client.Object) error {
	if err := indexer.IndexField(ctx, like, c.field, ownerUIDs); err != nil {
		return fmt.Errorf("index %s by owner: %w", k.GVK.GroupKind(), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.indexed[k] = true
	return nil
}

// ownerUIDs is the index's value: the UID of the owner.
func ownerUIDs(o client.Object) []string {
	if uid := o.GetLabels()[wellknown.LabelOwnerUID]; uid != "" {
		return []string{uid}
	}
	return nil
}

// Among limits a list to an owner's children of a kind, and to objects that only claim to be.
func (c *CrossNamespace) Among(owner types.UID, k kinds.Kind) client.ListOption {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.indexed[k] {
		return client.MatchingFields{c.field: string(owner)}
	}
	return client.MatchingLabels{wellknown.LabelOwnerUID: string(owner)}
}

// List returns an owner's children of a kind, from a client.
func (c *CrossNamespace) List(
	ctx context.Context, from client.Reader, owner types.UID, k kinds.Kind, isChild func(client.Object) bool,
) ([]client.Object, error) {
	return Reader{from, c.kinds}.List(ctx, k, isChild, c.Among(owner, k))
}

// Kinds returns the kinds that are indexed.
func (c *CrossNamespace) Kinds() inventory.Kinds {
	c.mu.RLock()
	defer c.mu.RUnlock()
	known := inventory.Kinds{}
	for k := range c.indexed {
		known.Insert(k.GVK.GroupKind())
	}
	return known
}

// CrossNamespaceOwner returns a function that finds the owner, of a kind, of a cross-namespace child. A needless request costs the
// owner one pass.
func CrossNamespaceOwner(owner schema.GroupKind) handler.MapFunc {
	return func(_ context.Context, child client.Object) []reconcile.Request {
		annotations := child.GetAnnotations()
		namespace, name, ok := strings.Cut(annotations[wellknown.AnnotationOwner], string(types.Separator))
		if child.GetLabels()[wellknown.LabelOwnerUID] == "" || !ok || annotations[wellknown.AnnotationOwnerKind] != owner.String() {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
	}
}
