package builder

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// applyWithoutUnclaimed applies once more what was refused since fields stand in its way that are no one's: defaults that
// the API server set beside what was wanted before. A Deployment whose strategy becomes Recreate may not have the
// rollingUpdate that it was given by default; an apply that doesn't name it leaves it, and can't name it to remove it. So
// a patch goes before, which makes the change and removes them. The digest isn't in it: after a crash the apply is
// still to be made. It reports false, having done nothing, if there are no such fields.
func (w *write) applyWithoutUnclaimed(ctx context.Context, p *pass, refused error) (client.Object, bool, error) {
	unclaimed := w.unclaimed(refused, p.engine.name)
	like, err := p.engine.kinds.empty(kind{gvk: w.desired.kind.gvk})
	if len(unclaimed) == 0 || err != nil || !payload.IsKubernetes(reflect.TypeOf(like).Elem()) {
		return nil, false, nil // a strategic merge, which keeps what others have in lists, is for Kubernetes' own kinds
	}
	fields := runtime.DeepCopyJSON(w.desired.fields)
	for _, path := range unclaimed {
		parent, _ := childOf(fields, path[:len(path)-1])
		parent[path[len(path)-1]] = nil
	}
	onlyAsSeen(fields, w.found)
	if annotations, ok := childOf(fields, []string{"metadata", "annotations"}); ok {
		delete(annotations, AnnotationDigest)
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, true, err
	}
	obj := w.found.DeepCopyObject().(client.Object) // the reply is decoded into it
	patch := client.RawPatch(types.StrategicMergePatchType, body)
	if err := p.engine.client.Patch(ctx, obj, patch, client.FieldOwner(p.engine.name)); err != nil || p.engine.dry {
		return obj, true, err // a dry run leaves no trace that an apply could build on
	}
	w.found = obj
	obj, err = w.patch(ctx, p)
	return obj, true, err
}

// unclaimed returns the paths of fields that the API server forbids, that aren't wanted, and that no one but us has set.
func (w *write) unclaimed(refused error, us string) [][]string {
	var paths [][]string
	for _, cause := range causesOf(refused) {
		if cause.Type != metav1.CauseTypeForbidden || strings.ContainsAny(cause.Field, "[]") {
			continue
		}
		path := strings.Split(cause.Field, ".")
		parent, ok := childOf(w.desired.fields, path[:len(path)-1])
		if _, wanted := parent[path[len(path)-1]]; ok && !wanted && !w.isClaimed(path, us) {
			paths = append(paths, path)
		}
	}
	return paths
}

// childOf follows names from map to map.
func childOf(fields map[string]any, path []string) (map[string]any, bool) {
	for _, name := range path {
		next, ok := fields[name].(map[string]any)
		if !ok {
			return nil, false
		}
		fields = next
	}
	return fields, true
}

// isClaimed reports whether someone else has set a field of the object that was found, or something in it, or if that
// can't be known.
func (w *write) isClaimed(path []string, us string) bool {
	element := func(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }
	return slices.ContainsFunc(w.found.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if entry.Manager == us {
			return false // what we set once goes with the apply
		}
		set, err := fieldsOf(entry)
		if err != nil {
			return true
		}
		for _, name := range path[:len(path)-1] {
			set = set.WithPrefix(element(name))
		}
		last := element(path[len(path)-1])
		return set.Members.Has(last) || !set.WithPrefix(last).Empty()
	})
}
