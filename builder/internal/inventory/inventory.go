package inventory

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

// Inventory is what is recorded on an owner: the kinds that it has children of. A later version of the program, which may not
// know these kinds any more, finds the children by it.
type Inventory struct {
	// Kinds are those of children that the owner controls.
	Kinds Kinds
	// CrossNamespace are the kinds of children without an owner reference.
	CrossNamespace Kinds
	// ResourceVersion is the owner's.
	ResourceVersion string
	// Finalizers are all of the owner's.
	Finalizers []string
}

// Of returns what is recorded on an owner.
func Of(owner client.Object) Inventory {
	annotations := owner.GetAnnotations()
	return Inventory{
		Kinds:           ParseKinds(annotations[wellknown.AnnotationGroupKinds]),
		CrossNamespace:  ParseKinds(annotations[wellknown.AnnotationGroupKindsCrossNamespace]),
		ResourceVersion: owner.GetResourceVersion(),
		Finalizers:      owner.GetFinalizers(),
	}
}

// IsGuarded reports whether the owner can't go before its cross-namespace children.
func (i Inventory) IsGuarded() bool { return slices.Contains(i.Finalizers, wellknown.Finalizer) }

// Covers reports whether children of these kinds may be created: all are recorded, and the owner is guarded if it must be.
func (i Inventory) Covers(kinds, crossNamespace Kinds) bool {
	return i.Kinds.IsSuperset(kinds) && i.CrossNamespace.IsSuperset(crossNamespace) && (len(crossNamespace) == 0 || i.IsGuarded())
}

// Change returns the inventory of these kinds, and the merge patch that makes it of i. The resource version in the patch keeps
// it from undoing what another writer changed.
func (i Inventory) Change(kinds, crossNamespace Kinds) (next Inventory, patch []byte, err error) {
	finalizers := slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == wellknown.Finalizer })
	if len(crossNamespace) > 0 {
		finalizers = append(finalizers, wellknown.Finalizer)
	}
	meta := map[string]any{
		"resourceVersion": i.ResourceVersion,
		"annotations": map[string]any{
			wellknown.AnnotationGroupKinds:               annotationOrNull(kinds),
			wellknown.AnnotationGroupKindsCrossNamespace: annotationOrNull(crossNamespace),
		},
	}
	if len(crossNamespace) > 0 != i.IsGuarded() {
		meta["finalizers"] = finalizers
	}
	next = Inventory{Kinds: kinds, CrossNamespace: crossNamespace, ResourceVersion: i.ResourceVersion, Finalizers: finalizers}
	patch, err = json.Marshal(map[string]any{"metadata": meta})
	return next, patch, err
}

func annotationOrNull(kinds Kinds) any {
	if len(kinds) == 0 {
		return nil
	}
	return FormatKinds(kinds)
}
