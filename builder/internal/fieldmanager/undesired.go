package fieldmanager

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/paths"
)

// SetBy is a set of fields, and the manager that has set them.
type SetBy struct {
	Manager string
	Fields  *fieldpath.Set
}

// SetByOthers returns the fields that only managers have set that could be a former version of the program. It ignores an entry that
// can't be read, because the result is for people.
func (m Manager) SetByOthers(entries []metav1.ManagedFieldsEntry) []SetBy {
	var candidates []SetBy
	known := &fieldpath.Set{}
	for _, entry := range entries {
		fields, err := Fields(entry)
		switch {
		case err != nil, entry.Subresource != "":
		case entry.Manager == m.Name || isOfCluster(entry.Manager) || m.TakesOver(entry):
			known = known.Union(fields)
		default:
			candidates = append(candidates, SetBy{entry.Manager, fields})
		}
	}
	for i := range candidates {
		alone := &fieldpath.Set{}
		for path := range candidates[i].Fields.All() {
			if !known.Has(path) && !paths.HasBelow(known, path) {
				alone.Insert(path.Copy())
			}
		}
		candidates[i].Fields = alone
	}
	return slices.DeleteFunc(candidates, func(c SetBy) bool { return c.Fields.Empty() })
}

// isOfCluster reports whether a field manager is a component of the cluster that writes to other writers' objects.
func isOfCluster(manager string) bool {
	for _, prefix := range []string{"kubectl", "kube-", "kubelet", "cloud-controller-manager", "cluster-autoscaler", "vpa-", "argocd"} {
		if strings.HasPrefix(manager, prefix) {
			return true
		}
	}
	return strings.Contains(manager, "injector") || strings.Contains(manager, "autoscaler")
}

// Paths returns the fields of a live object as text, an element of a list as one. It omits a field with the same value in fresh, the
// object as the API server would create it, because that is a default and would be set again.
func (s SetBy) Paths(live, fresh map[string]any) []string {
	var all []string
	for path := range s.Fields.All() {
		if i := slices.IndexFunc(path, func(e fieldpath.PathElement) bool { return e.FieldName == nil }); i >= 0 && s.Fields.Has(path[:i+1]) {
			path = path[:i+1]
		} else if paths.HasBelow(s.Fields, path) {
			continue
		}
		text := textOf(path)
		if paths.Same(live, fresh, path) || slices.Contains(all, text) {
			continue
		}
		all = append(all, text)
	}
	return all
}

// textOf returns a path in the form of a diff: spec.containers[name=web], data["tls.crt"].
func textOf(path fieldpath.Path) string {
	var text string
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			text = delta.Join(text, *element.FieldName)
		case element.Key != nil:
			var keys []string
			for _, k := range *element.Key {
				keys = append(keys, fmt.Sprintf("%s=%v", k.Name, k.Value.Unstructured()))
			}
			text += "[" + strings.Join(keys, ",") + "]"
		case element.Value != nil:
			text += fmt.Sprintf("[%v]", (*element.Value).Unstructured())
		default:
			text += element.String()
		}
	}
	return text
}
