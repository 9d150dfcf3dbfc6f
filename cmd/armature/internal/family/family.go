package family

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
	// Unread are the kinds that could not be listed, and the groups whose kinds could not be discovered, each with the reason. In most cases,
	// the user may not list them. Other errors may pass; until then they hide children.
	Unread []error
}

// Source is where objects are found.
type Source struct {
	Client client.Client
	// Discovery says which kinds there are. It is asked for families of custom resources of others.
	Discovery discovery.ServerResourcesInterface
	// Labels are those of the objects to read below the root. Default: all objects are read.
	Labels client.MatchingLabels
	// Stateless adds objects that can't have a problem: Secrets, ConfigMaps and ControllerRevisions, with their metadata only.
	Stateless bool
}

// Gather finds the family of an object, in the object's namespace; of one that is in none, everywhere.
func (s Source) Gather(ctx context.Context, root *unstructured.Unstructured) (Family, error) {
	s.Stateless = s.Stateless || root.GetDeletionTimestamp() != nil // the finalizer of any child can keep it
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
	source       Source
	namespace    string
	hasEveryKind bool // all kinds that the cluster can list are listed, or about to be

	mu      sync.Mutex
	listed  map[schema.GroupKind]bool
	byOwner map[types.UID][]*Member
	unread  []error
}

// listFor lists the kinds that these objects can own and that haven't been listed yet.
func (g *gathering) listFor(ctx context.Context, members []*Member) error {
	var kinds, possible []schema.GroupVersionKind
	isNew := func(gk schema.GroupKind) bool {
		if g.listed[gk] || stateless[gk] && !g.source.Stateless {
			return false
		}
		g.listed[gk] = true
		return true
	}
	asked := map[schema.GroupKind]bool{}
	for _, m := range members {
		kind := m.GroupVersionKind().GroupKind()
		if asked[kind] {
			continue
		}
		asked[kind] = kind != ours("ReplicaJob") // each has a gang or not
		owned, known := kindsBelow(kind)
		if !known {
			if g.hasEveryKind {
				continue
			}
			g.hasEveryKind = true
			all, err := g.everyKind()
			if err != nil {
				return err
			}
			for _, gvk := range all {
				if isNew(gvk.GroupKind()) {
					possible = append(possible, gvk)
				}
			}
			continue
		}
		for _, gk := range owned {
			if gk.Kind == "PodGroup" && !isGang(m) || !isNew(gk) {
				continue
			}
			mapping, err := g.source.Client.RESTMapper().RESTMapping(gk)
			if meta.IsNoMatchError(err) {
				continue // the cluster has no such kind
			}
			if err != nil {
				return fmt.Errorf("ask the cluster for the kind %s: %w", gk, err)
			}
			kinds = append(kinds, mapping.GroupVersionKind)
		}
	}
	for i, err := range g.list(ctx, kinds) {
		if err := g.note(kinds[i], err); err != nil {
			return err
		}
	}
	return g.listPossible(ctx, possible)
}

// listPossible lists the kinds that may have children of the family, because its operator isn't known. Most have none, and one that
// doesn't answer, such as a kind with a broken conversion webhook, has nothing to do with the others. If none answers, that is an error.
func (g *gathering) listPossible(ctx context.Context, kinds []schema.GroupVersionKind) error {
	failed := 0
	var last error
	for i, err := range g.list(ctx, kinds) {
		if err = g.note(kinds[i], err); err == nil {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		g.unread = append(g.unread, err)
		failed, last = failed+1, err
	}
	if failed > 0 && failed == len(kinds) {
		return last
	}
	return nil
}

// note records a kind that the user may not list, and returns other errors that can hide a child.
func (g *gathering) note(kind schema.GroupVersionKind, err error) error {
	if err == nil || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	err = fmt.Errorf("list %s: %w", kind.GroupKind(), err)
	if !apierrors.IsForbidden(err) {
		return err
	}
	if g.source.Stateless || canHaveProblem(kind.GroupKind()) {
		g.unread = append(g.unread, err)
	}
	return nil
}

// list lists kinds side by side, and returns the error of each.
func (g *gathering) list(ctx context.Context, kinds []schema.GroupVersionKind) []error {
	var wg sync.WaitGroup
	errs := make([]error, len(kinds))
	for i, gvk := range kinds {
		wg.Go(func() { errs[i] = g.listKind(ctx, gvk, len(kinds) > many) })
	}
	wg.Wait()
	return errs
}

// errHasOwner ends the list of a kind's metadata: some object has an owner.
var errHasOwner = errors.New("an object has an owner")

// listKind lists one kind. If there are many to list, most have nothing that belongs to the family: they are asked for
// metadata first.
func (g *gathering) listKind(ctx context.Context, gvk schema.GroupVersionKind, metadataFirst bool) error {
	if stateless[gvk.GroupKind()] || metadataFirst {
		err := g.pages(ctx, gvk, func() client.ObjectList { return &metav1.PartialObjectMetadataList{} }, func(page client.ObjectList) error {
			items := page.(*metav1.PartialObjectMetadataList).Items //nolint:forcetypeassert // made above
			if stateless[gvk.GroupKind()] {
				return g.addMetadata(items, gvk)
			}
			if slices.ContainsFunc(items, func(o metav1.PartialObjectMetadata) bool { return len(o.OwnerReferences) > 0 }) {
				return errHasOwner
			}
			return nil
		})
		if !errors.Is(err, errHasOwner) {
			return err
		}
	}
	return g.pages(ctx, gvk, func() client.ObjectList { return &unstructured.UnstructuredList{} }, func(page client.ObjectList) error {
		return meta.EachListItemWithAlloc(page, func(o runtime.Object) error { // so that a member doesn't keep its page
			g.add(o.(*unstructured.Unstructured)) //nolint:forcetypeassert // the list has no others
			return nil
		})
	})
}

// pageSize is the number of objects of one list request.
const pageSize = 500

// pages reads the objects of a kind page by page. If that takes so long that the API server has forgotten the version, it reads all of them
// at once; then some come twice.
func (g *gathering) pages(
	ctx context.Context, gvk schema.GroupVersionKind, newPage func() client.ObjectList, do func(client.ObjectList) error,
) error {
	for limit, next := int64(pageSize), ""; ; {
		page := newPage()
		page.GetObjectKind().SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err := g.source.Client.List(ctx, page, client.InNamespace(g.namespace), g.source.Labels, client.Limit(limit), client.Continue(next))
		if apierrors.IsResourceExpired(err) && next != "" {
			limit, next = 0, ""
			continue
		}
		if err == nil {
			err = do(page)
		}
		if next = page.GetContinue(); err != nil || next == "" {
			return err
		}
	}
}

// addMetadata adds objects of which only the metadata is known.
func (g *gathering) addMetadata(items []metav1.PartialObjectMetadata, gvk schema.GroupVersionKind) error {
	for i := range items {
		items[i].SetGroupVersionKind(gvk) // the items of a list have no kind
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&items[i])
		if err != nil {
			return err
		}
		g.add(&unstructured.Unstructured{Object: content})
	}
	return nil
}

// add adds an object to those of its owners.
func (g *gathering) add(o *unstructured.Unstructured) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ref := range o.GetOwnerReferences() {
		g.byOwner[ref.UID] = append(g.byOwner[ref.UID], &Member{Unstructured: o})
	}
}
