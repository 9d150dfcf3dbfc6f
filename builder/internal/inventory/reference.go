package inventory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IsOfPredecessor reports whether an object is controlled by a predecessor of the owner: an object of the same kind and name, with another
// UID. The garbage collector deletes such a child.
func IsOfPredecessor(obj, owner client.Object, ownerKind schema.GroupVersionKind) bool {
	ref := metav1.GetControllerOfNoCopy(obj)
	return ref != nil && ref.UID != owner.GetUID() &&
		ref.Kind == ownerKind.Kind && ref.Name == owner.GetName() && GroupOf(ref.APIVersion) == ownerKind.Group
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
