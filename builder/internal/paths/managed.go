package paths

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Without returns the set of fields without those that the paths name and what is in them.
func Without(set *fieldpath.Set, all []Path) *fieldpath.Set {
	named := fieldpath.NewSet()
	set.Iterate(func(field fieldpath.Path) {
		for _, p := range all {
			if p.leadsTo(field) {
				named.Insert(field.Copy())
				return
			}
		}
	})
	if named.Empty() {
		return set
	}
	return set.Difference(named)
}

// leadsTo reports whether a field is what the path names, or is in it.
func (p Path) leadsTo(field fieldpath.Path) bool {
	if len(field) < len(p) {
		return false
	}
	for i, step := range p {
		if !step.is(field[i]) {
			return false
		}
	}
	return true
}

func (s Step) is(element fieldpath.PathElement) bool {
	if s.Keys == nil {
		return element.FieldName != nil && *element.FieldName == s.Name
	}
	if element.Key == nil {
		return false
	}
	for key, want := range s.Keys {
		found := false
		for _, k := range *element.Key {
			found = found || k.Name == key && fmt.Sprint(k.Value.Unstructured()) == want
		}
		if !found {
			return false
		}
	}
	return true
}
