package subset

import (
	"reflect"
	"strings"
)

func containsList(wanted, found reflect.Value, m merging) bool {
	n := wanted.Len()
	if m.key == "" {
		if n != found.Len() {
			return false
		}
		for i := range n {
			if !containsSet(wanted.Index(i), found.Index(i), merging{}) {
				return false
			}
		}
		return true
	}
	if n > found.Len() {
		return false
	}
	for i := range n { // order is mostly kept
		if !matches(wanted.Index(i), found.Index(i), m.key) {
			return containsInAnyOrder(wanted, found, m.key)
		}
	}
	return true
}

// matches reports whether found is the element that wanted asks for.
func matches(wanted, found reflect.Value, key string) bool {
	return sameKey(wanted, found, key) && containsSet(wanted, found, merging{})
}

// containsInAnyOrder looks for one element of found for each of wanted. The key in a field's tag may be one part of a
// compound one (ports: port, and protocol), so that an element can match several; each is given away once only. Lists
// are short: this is the textbook's bipartite matching by augmenting paths.
func containsInAnyOrder(wanted, found reflect.Value, key string) bool {
	taken := make([]int, found.Len()) // by which wanted element, plus one
	var assign func(w int, tried []bool) bool
	assign = func(w int, tried []bool) bool {
		for f := range taken {
			if tried[f] || !matches(wanted.Index(w), found.Index(f), key) {
				continue
			}
			tried[f] = true
			if taken[f] == 0 || assign(taken[f]-1, tried) {
				taken[f] = w + 1
				return true
			}
		}
		return false
	}
	for w := range wanted.Len() {
		if !assign(w, make([]bool, len(taken))) {
			return false
		}
	}
	return true
}

func sameKey(a, b reflect.Value, key string) bool {
	if key == setKey {
		return true // the element is its own key
	}
	for a.Kind() == reflect.Pointer {
		if a.IsNil() || b.IsNil() {
			return false
		}
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Struct {
		return true
	}
	field, ok := fieldByJSONName(a.Type(), key)
	if !ok {
		return false
	}
	x, y := a.FieldByIndex(field), b.FieldByIndex(field)
	return x.Comparable() && x.Equal(y)
}

// fieldByJSONName finds the field of a merge key, which is among a struct's first or in an embedded struct.
func fieldByJSONName(t reflect.Type, name string) ([]int, bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		jsonName, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if jsonName == name {
			return field.Index, true
		}
		if field.Anonymous && jsonName == "" && field.Type.Kind() == reflect.Struct {
			if index, ok := fieldByJSONName(field.Type, name); ok {
				return append(append([]int{}, field.Index...), index...), true
			}
		}
	}
	return nil, false
}
