package store

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Key names an object in a cluster. It has no version, because one object can be read in several versions.
type Key struct {
	Group     string
	Kind      string
	Namespace string // empty for cluster-scoped objects
	Name      string
}

// KeyOf returns the key of the object of the kind gvk called name in namespace.
func KeyOf(gvk schema.GroupVersionKind, namespace, name string) Key {
	return Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}
}

// GroupKind returns the key's kind without the object's name.
func (k Key) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// NamespacedName returns the key's name without its kind.
func (k Key) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

// String renders the key as error messages and events show it: "Deployment.apps default/web".
func (k Key) String() string {
	kind := k.Kind
	if k.Group != "" {
		kind += "." + k.Group
	}
	if k.Namespace == "" {
		return kind + " " + k.Name
	}
	return kind + " " + k.Namespace + "/" + k.Name
}

// Compare orders keys by group, kind, namespace and name.
func Compare(a, b Key) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
	)
}
