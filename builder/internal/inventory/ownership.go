package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ownership is what an existing object is to an owner.
type Ownership int

const (
	// Owned objects are controlled by the owner.
	Owned Ownership = iota
	// NotOwned objects are someone else's, or no one's.
	NotOwned
	// Terminating objects are the owner's or a predecessor's and about to go: wait for them.
	Terminating
)

// OwnershipOf returns what obj is to the owner by its controller reference. An object of a predecessor (same kind and name,
// another UID) is about to be garbage collected.
func OwnershipOf(obj, owner client.Object, ownerKind schema.GroupVersionKind) Ownership {
	ref := metav1.GetControllerOfNoCopy(obj)
	switch {
	case ref == nil:
		return NotOwned
	case ref.UID == owner.GetUID():
		return Present(obj)
	case ref.Kind == ownerKind.Kind && ref.Name == owner.GetName() && GroupOf(ref.APIVersion) == ownerKind.Group:
		return Terminating
	default:
		return NotOwned
	}
}

// Present returns the ownership of an object that is known to be the owner's.
func Present(obj client.Object) Ownership {
	if obj.GetDeletionTimestamp() != nil {
		return Terminating
	}
	return Owned
}

// GroupOf returns the group of an apiVersion, empty for one that is none.
func GroupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

// ControllerReference returns the owner's reference on its children. It blocks the owner's foreground deletion until they
// are gone.
func ControllerReference(owner client.Object, kind schema.GroupVersionKind) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion:         kind.GroupVersion().String(),
		Kind:               kind.Kind,
		Name:               owner.GetName(),
		UID:                owner.GetUID(),
		Controller:         ptr.To(true),
		BlockOwnerDeletion: ptr.To(true),
	}
}
