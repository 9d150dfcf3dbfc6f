package former

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Fields returns the fields of an observed object that belong to a set of managed fields, and those that are also desired now: another
// writer may have changed a field that the builder then takes back, and without its value an undo would remove the field. All are decoded
// from JSON. It doesn't change its arguments and shares values with observed.
func Fields(observed, desired map[string]any, managed *fieldpath.Set) map[string]any {
	out := map[string]any{}
	for name, value := range observed {
		element := fieldpath.FieldNameElement(name)
		wanted, isDesired := desired[name]
		if kept, ok := part(value, wanted, isDesired, managed.Members.Has(element), managed.WithPrefix(element)); ok {
			out[name] = kept
		}
	}
	return out
}

// part returns the part of a value that belongs to a set, and whether there is any. whole: the value itself is in the set.
func part(value, desired any, isDesired, whole bool, managed *fieldpath.Set) (kept any, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		if whole && managed.Empty() { // an atomic map, or an empty one
			return v, true
		}
		wanted, _ := desired.(map[string]any)
		fields := Fields(v, wanted, managed)
		return fields, len(fields) > 0 || whole
	case []any:
		if managed.Empty() {
			return v, whole || isDesired
		}
		wanted, _ := desired.([]any)
		list := elements(v, wanted, managed)
		return list, len(list) > 0 || whole
	default:
		return v, whole || isDesired
	}
}

// elements returns the elements of a list that belong to a set, in their order.
func elements(list, desired []any, managed *fieldpath.Set) []any {
	var out []any
	for i, value := range list {
		element, ok := elementOf(i, value, managed)
		if !ok {
			continue
		}
		below := managed.WithPrefix(element)
		if element.Key == nil || below.Empty() { // the element has no fields of its own, as an owner reference
			out = append(out, value)
			continue
		}
		fields, isObject := value.(map[string]any)
		if !isObject {
			continue
		}
		like, _ := paths.At(desired, fieldpath.Path{element})
		wanted, _ := like.(map[string]any)
		kept := Fields(fields, wanted, below)
		for _, key := range *element.Key {
			if v, has := fields[key.Name]; has {
				kept[key.Name] = v // without its key the element would be another one
			}
		}
		out = append(out, kept)
	}
	return out
}

// elementOf returns the element of a set that a list's value is.
func elementOf(index int, value any, managed *fieldpath.Set) (found fieldpath.PathElement, ok bool) {
	look := func(e fieldpath.PathElement) {
		if !ok && paths.IsAt(value, index, e) {
			found, ok = e, true
		}
	}
	managed.Members.Iterate(look)
	for e := range managed.Children.All() {
		look(e)
	}
	return found, ok
}
