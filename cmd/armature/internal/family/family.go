package family

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Member is an object and what it owns.
type Member struct {
	*unstructured.Unstructured
	// Owned are ordered by the time of creation, then by kind and name; the Jobs of a JobFlow as its spec has their nodes.
	Owned []*Member
}

// Family is an object and all that belongs to it.
type Family struct {
	Root *Member
	// Unread are the kinds that could not be listed, and why: mostly that the user may not.
	Unread []error
}

// Source is where objects are found.
type Source struct {
	Client client.Client
	// Discovery says which kinds there are. It is asked for families of custom resources of others.
	Discovery discovery.ServerResourcesInterface
	// Labels are those of the objects to read below the root. Default: all objects are read.
	Labels client.MatchingLabels
}

// Gather finds the family of an object, in the object's namespace; of one that is in none, everywhere.
func (s Source) Gather(ctx context.Context, root *unstructured.Unstructured) (Family, error) {
	g := gathering{source: s, namespace: root.GetNamespace(), listed: map[schema.GroupKind]bool{}, byOwner: map[types.UID][]*Member{}}
	family := Family{Root: &Member{Unstructured: root}}
	seen := map[types.UID]bool{root.GetUID(): true}
	for level := []*Member{family.Root}; len(level) > 0; {
		if err := g.listFor(ctx, level); err != nil {
			return Family{}, err
		}
		var next []*Member
		for _, m := range level {
			for _, child := range g.byOwner[m.GetUID()] {
				if !seen[child.GetUID()] {
					seen[child.GetUID()] = true
					m.Owned = append(m.Owned, child)
				}
			}
			m.sort()
			next = append(next, m.Owned...)
		}
		level = next
	}
	family.Unread = g.unread
	return family, nil
}

// gathering is a family as far as it is known.
type gathering struct {
	source    Source
	namespace string

	mu      sync.Mutex
	listed  map[schema.GroupKind]bool
	byOwner map[types.UID][]*Member
	unread  []error
}

// listFor lists the kinds that these objects can own and that haven't been listed yet.
func (g *gathering) listFor(ctx context.Context, members []*Member) error {
	var kinds []schema.GroupVersionKind
	add := func(gvk schema.GroupVersionKind) {
		if !g.listed[gvk.GroupKind()] {
			g.listed[gvk.GroupKind()] = true
			kinds = append(kinds, gvk)
		}
	}
	asked := map[schema.GroupKind]bool{}
	for _, m := range members {
		kind := m.GroupVersionKind().GroupKind()
		if asked[kind] {
			continue
		}
		asked[kind] = true
		owned, known := kindsBelow(kind)
		if !known {
			all, err := g.everyKind()
			if err != nil {
				return err
			}
			for _, gvk := range all {
				add(gvk)
			}
			continue
		}
		for _, gk := range owned {
			mapping, err := g.source.Client.RESTMapper().RESTMapping(gk)
			if meta.IsNoMatchError(err) {
				continue // the cluster has no such kind
			}
			if err != nil {
				return fmt.Errorf("ask the cluster for the kind %s: %w", gk, err)
			}
			add(mapping.GroupVersionKind)
		}
	}
	return g.list(ctx, kinds)
}

// list lists kinds side by side.
func (g *gathering) list(ctx context.Context, kinds []schema.GroupVersionKind) error {
	var wg sync.WaitGroup
	errs := make([]error, len(kinds))
	for i, gvk := range kinds {
		wg.Go(func() { errs[i] = g.listKind(ctx, gvk, len(kinds) > many) })
	}
	wg.Wait()
	for i, err := range errs {
		switch {
		case err == nil, apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		case apierrors.IsForbidden(err):
			g.unread = append(g.unread, fmt.Errorf("list %s: %w", kinds[i].Kind, err))
		default:
			return fmt.Errorf("list %s: %w", kinds[i].Kind, err)
		}
	}
	return nil
}

// listKind lists one kind. If there are many to list, most have nothing that belongs to the family: they are asked for
// metadata first.
func (g *gathering) listKind(ctx context.Context, gvk schema.GroupVersionKind, metadataFirst bool) error {
	listGVK := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	if metadataFirst {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(listGVK)
		if err := g.source.Client.List(ctx, list, client.InNamespace(g.namespace), g.source.Labels); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(o metav1.PartialObjectMetadata) bool { return len(o.OwnerReferences) > 0 }) {
			return nil
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listGVK)
	if err := g.source.Client.List(ctx, list, client.InNamespace(g.namespace), g.source.Labels); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range list.Items {
		o := &list.Items[i]
		for _, ref := range o.GetOwnerReferences() {
			g.byOwner[ref.UID] = append(g.byOwner[ref.UID], &Member{Unstructured: o})
		}
	}
	return nil
}
