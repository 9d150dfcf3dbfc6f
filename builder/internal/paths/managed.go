package paths

import (
	"fmt"
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
		switch {
		case step.FieldName != nil:
			fields, ok := value.(map[string]any)
			if !ok {
				return nil, false
			}
			if value, ok = fields[*step.FieldName]; !ok {
				return nil, false
			}
		case step.Key != nil:
			list, _ := value.([]any)
			i := slices.IndexFunc(list, func(element any) bool { return hasKey(element, step) })
			if i < 0 {
				return nil, false
			}
			value = list[i]
		case step.Value != nil:
			list, _ := value.([]any)
			want := fmt.Sprint((*step.Value).Unstructured())
			i := slices.IndexFunc(list, func(element any) bool { return fmt.Sprint(element) == want })
			if i < 0 {
				return nil, false
			}
			value = list[i]
		default:
			list, _ := value.([]any)
			if step.Index == nil || *step.Index >= len(list) {
				return nil, false
			}
			value = list[*step.Index]
		}
	}
	return value, true
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
