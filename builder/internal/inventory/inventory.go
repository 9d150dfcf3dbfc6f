package inventory

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

// Inventory has the recorded kinds of an owner's children. A later version of the program, which may not know these kinds, finds the
// children by it.
type Inventory struct {
	// Kinds are the kinds of children that the owner controls.
	Kinds Kinds
	// CrossNamespace are the kinds of children without an owner reference.
	CrossNamespace Kinds
	// ResourceVersion is the owner's resource version.
	ResourceVersion string
	// Finalizers are all finalizers of the owner.
	Finalizers []string
}

// Of returns the inventory that is recorded on an owner.
func Of(owner client.Object) Inventory {
	annotations := owner.GetAnnotations()
	return Inventory{
		Kinds:           ParseKinds(annotations[wellknown.AnnotationGroupKinds]),
		CrossNamespace:  ParseKinds(annotations[wellknown.AnnotationGroupKindsCrossNamespace]),
		ResourceVersion: owner.GetResourceVersion(),
		Finalizers:      owner.GetFinalizers(),
	}
}

// Has reports whether the owner has a finalizer.
func (i Inventory) Has(finalizer string) bool { return slices.Contains(i.Finalizers, finalizer) }

// FinalizersWith returns the owner's finalizers and another one.
func (i Inventory) FinalizersWith(finalizer string) []string {
	return append(slices.Clone(i.Finalizers), finalizer)
}

// FinalizersWithout returns the owner's finalizers without one.
func (i Inventory) FinalizersWithout(finalizer string) []string {
	return slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == finalizer })
}

// IsGuarded reports whether the finalizer keeps the owner until its cross-namespace children are deleted.
func (i Inventory) IsGuarded() bool { return i.Has(wellknown.Finalizer) }

// Covers reports whether children of these kinds may be created: all are recorded, and the owner is guarded if it must be.
func (i Inventory) Covers(kinds, crossNamespace Kinds) bool {
	return i.Kinds.IsSuperset(kinds) && i.CrossNamespace.IsSuperset(crossNamespace) && (len(crossNamespace) == 0 || i.IsGuarded())
}

// Change returns the inventory of these kinds, and the merge patch from i to it. The resource version in the patch keeps it from
// reverting another writer's change.
func (i Inventory) Change(kinds, crossNamespace Kinds) (next Inventory, patch []byte, err error) {
	finalizers := i.FinalizersWithout(wellknown.Finalizer)
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

// WithFinalizers returns the inventory with other finalizers of the owner, and the merge patch from i to it.
func (i Inventory) WithFinalizers(finalizers []string) (next Inventory, patch []byte, err error) {
	next = i
	next.Finalizers = finalizers
	patch, err = json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": i.ResourceVersion, "finalizers": finalizers,
	}})
	return next, patch, err
}

func annotationOrNull(kinds Kinds) any {
	if len(kinds) == 0 {
		return nil
	}
	return FormatKinds(kinds)
}
