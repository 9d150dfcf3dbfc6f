package builder

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// ownership is what an existing object is to an owner.
type ownership int

const (
	ours    ownership = iota // controlled by the owner
	foreign                  // someone else's, or no one's
	leaving                  // ours or a predecessor's, and about to go: wait for it
)

// ownershipOf says what obj is to the owner.
// An object of a predecessor (same kind and name, another UID) is about to be garbage collected.
func ownershipOf(obj, owner client.Object, ownerKind schema.GroupVersionKind) ownership {
	ref := metav1.GetControllerOfNoCopy(obj)
	switch {
	case ref == nil:
		return foreign
	case ref.UID == owner.GetUID():
		if obj.GetDeletionTimestamp() != nil {
			return leaving
		}
		return ours
	case ref.Kind == ownerKind.Kind && ref.Name == owner.GetName() && groupOf(ref.APIVersion) == ownerKind.Group:
		return leaving
	default:
		return foreign
	}
}

func groupOf(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

// notOwned is the error of an object that is someone else's.
func notOwned(operation string, key store.Key, found client.Object) *Error {
	whose, help := "it has no controller", "delete or rename that object, or give the owner another name"
	if ref := metav1.GetControllerOfNoCopy(found); ref != nil {
		whose, help = "it is controlled by "+ref.Kind+" "+ref.Name, "delete or rename that object, or give the owner another name"
	}
	err := fmt.Errorf("%w: %s", ErrNotOwned, whose)
	if operation == "apply" {
		err = fmt.Errorf("%w; %s", err, help)
	}
	return &Error{Key: key, Operation: operation, Err: err, object: found}
}

// controllerRef is the owner's reference on its children. It blocks the owner's foreground deletion until they are gone.
func controllerRef(owner client.Object, kind schema.GroupVersionKind) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion:         kind.GroupVersion().String(),
		Kind:               kind.Kind,
		Name:               owner.GetName(),
		UID:                owner.GetUID(),
		Controller:         ptr.To(true),
		BlockOwnerDeletion: ptr.To(true),
	}
}
