package fieldmanager

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/delta"
)

// SetBy is a set of fields, and the manager that has set them.
type SetBy struct {
	Manager string
	Fields  *fieldpath.Set
}

// SetByOthers returns what managers that could be a former version of the program have set alone. An entry that can't be read is left
// out: this is for people.
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
			if !known.Has(path) && !delta.HasBelow(known, path) {
				alone.Insert(path.Copy())
			}
		}
		candidates[i].Fields = alone
	}
	return slices.DeleteFunc(candidates, func(c SetBy) bool { return c.Fields.Empty() })
}

// isOfCluster reports whether a field manager is known to write to objects of others.
func isOfCluster(manager string) bool {
	for _, prefix := range []string{"kubectl", "kube-", "kubelet", "cloud-controller-manager", "cluster-autoscaler", "vpa-", "argocd"} {
		if strings.HasPrefix(manager, prefix) {
			return true
		}
	}
	return strings.Contains(manager, "injector") || strings.Contains(manager, "autoscaler")
}

// Paths renders the fields of a live object, an element of a list as one. A field that has the same value in fresh, the object as the API
// server would create it, is left out: no one has left it, and it would come back.
func (s SetBy) Paths(live, fresh map[string]any) []string {
	var all []string
	for path := range s.Fields.All() {
		if i := slices.IndexFunc(path, func(e fieldpath.PathElement) bool { return e.FieldName == nil }); i >= 0 && s.Fields.Has(path[:i+1]) {
			path = path[:i+1]
		} else if delta.HasBelow(s.Fields, path) {
			continue
		}
		text := textOf(path)
		if delta.Same(live, fresh, path) || slices.Contains(all, text) {
			continue
		}
		all = append(all, text)
	}
	return all
}

// textOf renders a path as a diff shows it: spec.containers[name=web], data["tls.crt"].
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
