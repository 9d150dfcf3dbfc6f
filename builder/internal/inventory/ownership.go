package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ownership is the relation between an existing object and an owner.
type Ownership int

const (
	// Owned objects are controlled by the owner.
	Owned Ownership = iota
	// NotOwned objects have another owner, or none.
	NotOwned
	// Terminating objects are the owner's or a predecessor's, and about to disappear: wait for them.
	Terminating
)

// OwnershipOf returns the ownership of obj by its controller reference. The garbage collector deletes an object of a predecessor (same
// kind and name, another UID).
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

// GroupOf returns the group of an apiVersion, empty if it is invalid.
func GroupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

// ControllerReference returns the owner's reference on its children. It blocks the owner's foreground deletion until they are deleted.
func ControllerReference(owner client.Object, kind schema.GroupVersionKind) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion:         kind.GroupVersion().String(),
		Kind:               kind.Kind,
		Name:               owner.GetName(),
		UID:                owner.GetUID(),
		Controller:         new(true),
		BlockOwnerDeletion: new(true),
	}
}
