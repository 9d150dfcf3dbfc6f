package paths

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Without returns the set of fields without the named ones and the fields below them.
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

// leadsTo reports whether the path names a field or a parent of it.
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

// At returns the value at a path of managed fields in an object as decoded from JSON.
func At(value any, path fieldpath.Path) (any, bool) {
	for _, step := range path {
		if step.FieldName != nil {
			fields, _ := value.(map[string]any)
			field, ok := fields[*step.FieldName]
			if !ok {
				return nil, false
			}
			value = field
			continue
		}
		list, _ := value.([]any)
		i := find(list, step)
		if i < 0 {
			return nil, false
		}
		value = list[i]
	}
	return value, true
}

// Same reports whether two objects have the same value, or none, at a path.
func Same(a, b map[string]any, path fieldpath.Path) bool {
	one, _ := At(a, path)
	other, _ := At(b, path)
	return reflect.DeepEqual(one, other)
}

// HasBelow reports whether a set has fields below a path.
func HasBelow(set *fieldpath.Set, path fieldpath.Path) bool {
	for _, step := range path {
		set = set.WithPrefix(step)
	}
	return !set.Empty()
}

// RemoveSet removes the fields of a set from an object, except those with a kept field below them, as a server-side apply does with
// fields that are no longer applied. It also removes the parents that become empty.
func RemoveSet(object map[string]any, fields, kept *fieldpath.Set) {
	var all []fieldpath.Path
	for path := range fields.All() {
		all = append(all, path.Copy())
	}
	// An element of a list must go before its key field.
	slices.SortStableFunc(all, func(a, b fieldpath.Path) int { return cmp.Compare(len(a), len(b)) })
	for _, path := range all {
		if !HasBelow(kept, path) {
			without(object, path)
		}
	}
}

// without returns a value without the field at a path, nil if nothing remains.
func without(v any, path fieldpath.Path) any {
	if len(path) == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		name := path[0].FieldName
		if name == nil || v[*name] == nil {
			return v
		}
		if left := without(v[*name], path[1:]); left != nil {
			v[*name] = left
			return v
		}
		delete(v, *name)
		if len(v) > 0 {
			return v
		}
		return nil
	case []any:
		i := find(v, path[0])
		if i < 0 {
			return v
		}
		if left := without(v[i], path[1:]); left != nil {
			v[i] = left
			return v
		}
		if v = slices.Delete(v, i, i+1); len(v) > 0 {
			return v
		}
		return nil
	default:
		return v
	}
}

// find returns the index of the element of a list at a step, -1 if there is none.
func find(list []any, step fieldpath.PathElement) int {
	for i, element := range list {
		if IsAt(element, i, step) {
			return i
		}
	}
	return -1
}

// IsAt reports whether the element of a list with an index is the one at a step.
func IsAt(element any, index int, step fieldpath.PathElement) bool {
	switch {
	case step.Key != nil:
		return hasKey(element, step)
	case step.Value != nil:
		return fmt.Sprint(element) == fmt.Sprint((*step.Value).Unstructured())
	default:
		return step.Index != nil && *step.Index == index
	}
}

// hasKey reports whether an element of a list has the keys of a step. A missing part of a key belongs to the API server's defaults.
func hasKey(element any, step fieldpath.PathElement) bool {
	fields, ok := element.(map[string]any)
	if !ok {
		return false
	}
	equal := 0
	for _, part := range *step.Key {
		value, ok := fields[part.Name]
		if !ok {
			continue
		}
		if fmt.Sprint(value) != fmt.Sprint(part.Value.Unstructured()) {
			return false
		}
		equal++
	}
	return equal > 0
}

// Text returns a path of managed fields in the form that Parse reads: spec.template.spec.containers[name=web].image. For a list whose
// elements have no key it returns the list.
func Text(path fieldpath.Path) string {
	var text strings.Builder
	for _, step := range path {
		switch {
		case step.FieldName != nil && text.Len() > 0 && strings.ContainsAny(*step.FieldName, "./[]= \t\n"):
			text.WriteString("[" + *step.FieldName + "]")
		case step.FieldName != nil:
			if text.Len() > 0 {
				text.WriteString(".")
			}
			text.WriteString(*step.FieldName)
		case step.Key != nil:
			var parts []string
			for _, part := range *step.Key {
				parts = append(parts, part.Name+"="+fmt.Sprint(part.Value.Unstructured()))
			}
			text.WriteString("[" + strings.Join(parts, ",") + "]")
		default:
			return text.String()
		}
	}
	return text.String()
}
