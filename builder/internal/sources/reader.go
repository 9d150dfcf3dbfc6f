package sources

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// Reader reads objects by their kind, from a cache or the API server. A cache shares its objects: read only.
type Reader struct {
	From  client.Reader
	Kinds *kinds.Registry
}

// unwatched is the end of controller-runtime's error for a namespace that the cache doesn't have.
const unwatched = "because of unknown namespace for the cache"

// Get returns the object of a key, or nil if it doesn't exist. It returns the client's error; for a kind that the cluster doesn't
// know, kinds.IsGone is true.
func (r Reader) Get(ctx context.Context, k kinds.Kind, key store.Key) (client.Object, error) {
	found, err := r.Kinds.Empty(k)
	if err != nil {
		return nil, err
	}
	err = r.From.Get(ctx, key.NamespacedName(), found, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) && !kinds.IsGone(err) {
		return nil, nil
	}
	if err != nil && strings.HasSuffix(err.Error(), unwatched) {
		return nil, fmt.Errorf("the manager doesn't watch the namespace %s; add it to the namespaces of its cache (--watch-namespaces), "+
			"or keep the object in one of those", key.Namespace)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// List returns the objects of a kind that keep accepts. A nil keep accepts all.
func (r Reader) List(
	ctx context.Context, k kinds.Kind, keep func(client.Object) bool, among ...client.ListOption,
) ([]client.Object, error) {
	list, err := r.Kinds.EmptyList(k)
	if err != nil {
		return nil, err
	}
	if err := r.From.List(ctx, list, append(among, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list %s: %w", k.GVK.GroupKind(), err)
	}
	objs := make([]client.Object, 0, meta.LenList(list))
	err = meta.EachListItem(list, func(o runtime.Object) error {
		if obj, ok := o.(client.Object); ok && (keep == nil || keep(obj)) {
			objs = append(objs, obj)
		}
		return nil
	})
	return objs, err
}

// requests returns a request for each object of a kind.
func (r Reader) requests(ctx context.Context, k kinds.Kind, among ...client.ListOption) ([]reconcile.Request, error) {
	objs, err := r.List(ctx, k, nil, among...)
	if err != nil {
		return nil, err
	}
	requests := make([]reconcile.Request, len(objs))
	for i, o := range objs {
		requests[i].NamespacedName = client.ObjectKeyFromObject(o)
	}
	return requests, nil
}

// nameIn returns the namespace and name of an object that is referred to from a namespace.
func (r Reader) nameIn(k kinds.Kind, namespace, name string) (types.NamespacedName, error) {
	like, err := r.Kinds.Empty(k)
	if err != nil {
		return types.NamespacedName{}, err
	}
	namespaced, err := r.Kinds.IsNamespaced(k, like)
	if !namespaced {
		namespace = ""
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, err
}
