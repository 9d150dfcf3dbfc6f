package delta

import (
	"cmp"
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Remove removes the fields of a set from an object, except those with a kept field below them, as a server-side apply does with
// fields that are no longer applied. It also removes the parents that become empty.
func Remove(object map[string]any, fields, kept *fieldpath.Set) {
	var paths []fieldpath.Path
	for path := range fields.All() {
		paths = append(paths, path.Copy())
	}
	// An element of a list must go before its key field.
	slices.SortStableFunc(paths, func(a, b fieldpath.Path) int { return cmp.Compare(len(a), len(b)) })
	for _, path := range paths {
		if !HasBelow(kept, path) {
			removed(object, path)
		}
	}
}

// HasBelow reports whether a set has fields below a path.
func HasBelow(set *fieldpath.Set, path fieldpath.Path) bool {
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return !set.Empty()
}

// removed returns a value without the field at a path, nil if nothing remains.
func removed(v any, path fieldpath.Path) any {
	if len(path) == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		name := path[0].FieldName
		if name == nil || v[*name] == nil {
			return v
		}
		if left := removed(v[*name], path[1:]); left != nil {
			v[*name] = left
			return v
		}
		delete(v, *name)
		if len(v) > 0 {
			return v
		}
		return nil
	case []any:
		i := slices.IndexFunc(v, func(element any) bool { return isAt(element, path[0]) })
		if i < 0 {
			return v
		}
		if left := removed(v[i], path[1:]); left != nil {
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

// Same reports whether two objects have the same value, or none, at a path.
func Same(a, b map[string]any, path fieldpath.Path) bool {
	return reflect.DeepEqual(valueAt(a, path), valueAt(b, path))
}

// valueAt returns the value at a path, nil if there is none.
func valueAt(v any, path fieldpath.Path) any {
	if len(path) == 0 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if name := path[0].FieldName; name != nil {
			return valueAt(v[*name], path[1:])
		}
	case []any:
		if i := slices.IndexFunc(v, func(element any) bool { return isAt(element, path[0]) }); i >= 0 {
			return valueAt(v[i], path[1:])
		}
	}
	return nil
}

// isAt reports whether an element of a list has the path element's key or value.
func isAt(element any, at fieldpath.PathElement) bool {
	switch {
	case at.Value != nil:
		return value.Equals(value.NewValueInterface(element), *at.Value)
	case at.Key != nil:
		fields, ok := element.(map[string]any)
		for _, f := range *at.Key {
			ok = ok && value.Equals(value.NewValueInterface(fields[f.Name]), f.Value)
		}
		return ok
	default:
		return false // lists without keys are owned as a whole
	}
}
