package world

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claim returns the adoptions and releases with which the controllers of workloads begin a sync: the owner adopts the objects without a
// controller that it selects, and releases those that it no longer selects. isMember is a further condition; nil: none. The selector is
// nil only for objects that the API server would refuse: they claim nothing.
func claim[T client.Object](
	s *State, owner client.Object, kind schema.GroupVersionKind, selector *metav1.LabelSelector, isMember func(T) bool,
) []Change {
	if selector == nil || owner.GetDeletionTimestamp() != nil {
		return nil
	}
	selects, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		s.fail("%s %s/%s: spec.selector: %w", kind.Kind, owner.GetNamespace(), owner.GetName(), err)
		return nil
	}
	var changes []Change
	for _, obj := range All[T](s) {
		if obj.GetNamespace() != owner.GetNamespace() {
			continue
		}
		matches := selects.Matches(labels.Set(obj.GetLabels())) && (isMember == nil || isMember(obj))
		ref := metav1.GetControllerOfNoCopy(obj)
		switch {
		case ref == nil && matches && obj.GetDeletionTimestamp() == nil:
			adopt := update(changed(obj, func(o T) {
				o.SetOwnerReferences(append(o.GetOwnerReferences(), *metav1.NewControllerRef(owner, kind)))
			}))
			adopt.readsMore = true
			changes = append(changes, adopt)
		case ref != nil && ref.UID == owner.GetUID() && !matches:
			release := update(changed(obj, func(o T) {
				o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
					return r.UID == owner.GetUID()
				}))
			}))
			release.owner, release.readsMore = ref, true
			changes = append(changes, release)
		}
	}
	return changes
}

// exists reports whether an object of a kind has a name, whoever controls it.
func exists[T client.Object](s *State, key types.NamespacedName) bool {
	return slices.ContainsFunc(All[T](s), func(o T) bool { return client.ObjectKeyFromObject(o) == key })
}
