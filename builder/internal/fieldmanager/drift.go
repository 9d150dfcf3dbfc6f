package fieldmanager

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/subset"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Drift is a field that another writer has changed.
type Drift struct {
	Path string // as Ignore takes it
	By   string // a manager as Describe names it; empty: no manager owns the field
	Self bool   // By is another process with the builder's own name
}

// Drifts returns the fields in which an observed object differs from the desired one, and the managers that own them. An apply takes
// its fields from all other managers, so a manager that owns a field with another value has written it since. A removed field has no
// manager. isLast reports whether the builder's entries are those of its last write of this desired object.
//
// The result is for people, and to compare differences: no write depends on it.
func (m Manager) Drifts(entries []metav1.ManagedFieldsEntry, desired, observed map[string]any, isLast bool) []Drift {
	var all []Drift
	for _, entry := range entries {
		set, err := Fields(entry)
		if err != nil || entry.Subresource == "status" {
			continue
		}
		self := entry.Manager == m.Name
		if self && (isLast || !set.Has(digestPath)) {
			continue // the builder's own record of its write
		}
		set.Leaves().Iterate(func(path fieldpath.Path) {
			want, isDesired := paths.At(desired, path)
			found, exists := paths.At(observed, path)
			// The builder's create entry also has the API server's defaults; its apply entry has only its own fields.
			isExtra := self && !isDesired && exists && entry.Operation == metav1.ManagedFieldsOperationApply
			differs := isDesired && !subset.Untyped(want, found) || isExtra
			if name := paths.Text(path); differs && !isBookkeeping(name) {
				all = append(all, Drift{Path: name, By: Describe(entry), Self: self})
			}
		})
	}
	return all
}

// SetWhole returns the desired maps that other managers have set and that are one value to the API server. An entry that another
// manager has added to such a map is neither a default of the API server nor allowed beside the desired ones.
func (m Manager) SetWhole(entries []metav1.ManagedFieldsEntry, desired map[string]any) []fieldpath.Path {
	var all []fieldpath.Path
	for _, entry := range entries {
		if entry.Subresource != "" || entry.Manager == m.Name || m.TakesOver(entry) {
			continue
		}
		set, err := Fields(entry)
		if err != nil {
			continue
		}
		set.Leaves().Iterate(func(path fieldpath.Path) {
			want, _ := paths.At(desired, path)
			if fields, isMap := want.(map[string]any); isMap && len(fields) > 0 {
				all = append(all, path.Copy())
			}
		})
	}
	return all
}

// Unowned returns the fields in which an observed object differs from the desired one, with any manager. It returns the digest alone
// if only that differs.
func Unowned(desired, observed map[string]any) []Drift {
	var all []Drift
	differences(nil, desired, observed, func(path fieldpath.Path) {
		if name := paths.Text(path); !isBookkeeping(name) {
			all = append(all, Drift{Path: name})
		}
	})
	if len(all) == 0 {
		all = append(all, Drift{Path: paths.Text(digestPath)})
	}
	return all
}

// DriftOf returns the drift of one field, with the last manager other than the builder that has set it. For an element of a list it
// returns the list, because the next element may have another key.
func (m Manager) DriftOf(entries []metav1.ManagedFieldsEntry, path fieldpath.Path) Drift {
	for len(path) > 1 && path[len(path)-1].FieldName == nil {
		path = path[:len(path)-1]
	}
	drift := Drift{Path: paths.Text(path)}
	if entry := Setter(entries, path, m.Name); entry != nil {
		drift.By = Describe(*entry)
	}
	return drift
}

// Removal is a field that the builder removed because the API server refuses it beside the desired ones, and the manager that had set
// it.
type Removal struct {
	Path, Manager string
	Drift         Drift
}

// Removals returns the removed fields that other managers had set.
func (m Manager) Removals(entries []metav1.ManagedFieldsEntry, removed []fieldpath.Path) []Removal {
	var all []Removal
	for _, path := range removed {
		entry := Setter(entries, path, m.Name)
		if entry == nil {
			continue
		}
		drift := m.DriftOf(nil, path)
		drift.By = Describe(*entry)
		all = append(all, Removal{strings.TrimPrefix(path.String(), "."), entry.Manager, drift})
	}
	return all
}

// isBookkeeping reports whether a field is the builder's own record, or only the API server's.
func isBookkeeping(path string) bool {
	switch path {
	case "metadata.uid", "metadata.name", "metadata.namespace", "metadata.resourceVersion", "apiVersion", "kind",
		"metadata.annotations[" + wellknown.AnnotationDigest + "]":
		return true
	}
	return false
}

// differences calls yield for each field in which an observed value differs from the desired one.
func differences(path fieldpath.Path, desired, observed any, yield func(fieldpath.Path)) {
	if subset.Untyped(desired, observed) {
		return
	}
	wants, isMap := desired.(map[string]any)
	has, both := observed.(map[string]any)
	if !isMap || !both && observed != nil {
		yield(path)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wants)) {
		differences(append(slices.Clip(path), fieldpath.PathElement{FieldName: &name}), wants[name], has[name], yield)
	}
}
