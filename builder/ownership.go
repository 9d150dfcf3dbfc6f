package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
)

const (
	ours    = inventory.Owned
	foreign = inventory.NotOwned
)

// ownershipOf returns what obj is to the owner.
func ownershipOf(obj, owner client.Object, ownerKind schema.GroupVersionKind) inventory.Ownership {
	return inventory.OwnershipOf(obj, owner, ownerKind)
}

// controllerRef returns the owner's reference on its children.
func controllerRef(owner client.Object, kind schema.GroupVersionKind) metav1.OwnerReference {
	return inventory.ControllerReference(owner, kind)
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) string { return inventory.GroupOf(apiVersion) }
