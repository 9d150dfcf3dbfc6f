package subset

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Guided is Typed for objects as decoded from JSON, of a Kubernetes kind with a known Go type. The type determines how lists are
// merged, which values are one value, and which zero fields the API server omits. Unlike in a Go struct, an explicit zero counts as
// set: another value in the observed object is a difference, and a missing one isn't. It compares a field that the type doesn't have,
// because the server is newer, as Untyped does.
func Guided(desired, found any, like reflect.Type) bool {
	return containsAs(desired, found, like, merging{})
}

func containsAs(desired, found any, t reflect.Type, m merging) bool {
	isPointer := false
	for t.Kind() == reflect.Pointer {
		t, isPointer = t.Elem(), true
	}
	switch {
	case desired == nil:
		return true
	case found == nil && isPointer:
		return false // a pointer's zero is kept
	}
	switch t.Kind() {
	case reflect.Struct:
		if equal := infoOf(t).equal; equal != nil {
			return equalAs(desired, found, t, equal)
		}
		return bothOr(desired, found, func(w, f map[string]any) bool { return containsFieldsAs(w, f, t, m) })
	case reflect.Map:
		return bothOr(desired, found, func(w, f map[string]any) bool { return containsMapAs(w, f, t, m) })
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return sameScalar(desired, found)
		}
		return bothOr(desired, found, func(w, f []any) bool { return containsListAs(w, f, t, m) })
	case reflect.Interface:
		return untyped{}.contains("", desired, found)
	default:
		return sameScalar(desired, found)
	}
}

// bothOr compares two values of one form, of which the second may be missing.
func bothOr[T any](desired, found any, contains func(w, f T) bool) bool {
	w, ok := desired.(T)
	f, both := found.(T)
	return ok && (both || found == nil) && contains(w, f)
}

func containsFieldsAs(desired, found map[string]any, t reflect.Type, m merging) bool {
	known := guideOf(t)
	for name, w := range desired {
		field, ok := known[name]
		switch {
		case !ok && !untyped{}.contains(name, w, found[name]):
			return false
		case ok && !field.typeMeta && !containsAs(w, found[name], field.typ, m.inside(field.merging)):
			return false
		}
	}
	return true
}

func containsMapAs(desired, found map[string]any, t reflect.Type, m merging) bool {
	if m.atomic && len(desired) != len(found) {
		return false
	}
	for name, w := range desired {
		if f, ok := found[name]; !ok || !containsAs(w, f, t.Elem(), m.inside(merging{})) {
			return false
		}
	}
	return true
}

func containsListAs(desired, found []any, t reflect.Type, m merging) bool {
	contains := func(w, f int) bool { return containsAs(desired[w], found[f], t.Elem(), m.inside(merging{})) }
	switch {
	case len(desired) == 0:
		return true
	case m.key == "":
		if len(desired) != len(found) {
			return false
		}
		for i := range desired {
			if !contains(i, i) {
				return false
			}
		}
		return true
	case len(desired) > len(found):
		return false
	}
	sameKey := func(w, f int) bool { return sameKeyAs(desired[w], found[f], t.Elem(), m.key) }
	taken := pairs(len(desired), len(found), func(w, f int) bool {
		return sameKey(w, f) && containsAs(desired[w], found[f], t.Elem(), merging{})
	})
	return taken != nil && !(m.ordered && isReordered(taken)) &&
		(m.key == setKey || !hasUntaken(len(desired), len(found), taken, sameKey))
}

// sameKeyAs is sameKey for elements as decoded from JSON.
func sameKeyAs(a, b any, t reflect.Type, key string) bool {
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if key == setKey || !isMap || !both {
		return true // the element is its own key
	}
	if !sameScalar(x[key], y[key]) {
		return false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	second, ok := secondKeys[t]
	if !ok {
		return true
	}
	name := strings.ToLower(second.field[:1]) + second.field[1:]
	v, _ := x[name].(string)
	w, _ := y[name].(string)
	return cmp.Or(v, second.otherwise) == cmp.Or(w, second.otherwise)
}

// sameScalar compares values that are neither a map nor a list. The API server omits a zero.
func sameScalar(desired, found any) bool {
	if found == nil {
		return desired == nil || desired == "" || desired == false || sameNumber(desired, 0)
	}
	return sameNumber(desired, found) || reflect.DeepEqual(desired, found)
}

// equalAs compares values that are one value to the API server, in any JSON form.
func equalAs(desired, found any, t reflect.Type, equal func(desired, found reflect.Value) bool) bool {
	w, okDesired := decodedAs(desired, t)
	f, okFound := decodedAs(found, t)
	return okDesired && okFound && equal(w, f)
}

func decodedAs(v any, t reflect.Type) (reflect.Value, bool) {
	into := reflect.New(t)
	if v == nil {
		return into.Elem(), true
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, into.Interface())
	}
	return into.Elem(), err == nil
}

// guidedField is the information about a field, by its JSON name, that the walk needs.
type guidedField struct {
	typ      reflect.Type
	merging  merging
	typeMeta bool
}

var guides sync.Map // reflect.Type -> map[string]guidedField

func guideOf(t reflect.Type) map[string]guidedField {
	if known, ok := guides.Load(t); ok {
		return known.(map[string]guidedField)
	}
	named := map[string]guidedField{}
	collectFields(t, false, named)
	known, _ := guides.LoadOrStore(t, named)
	return known.(map[string]guidedField)
}

func collectFields(t reflect.Type, typeMeta bool, into map[string]guidedField) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported() || name == "-":
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			collectFields(field.Type, typeMeta || isTypeMeta(t, field), into)
		default:
			into[cmp.Or(name, field.Name)] = guidedField{field.Type, mergingOf(t, field), typeMeta}
		}
	}
}
