package paths

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-dev/armature/internal/wellknown"
)

// Check returns an error if a path can't name a field of objects of a Go type. Where the type is open, any name is valid.
func (p Path) Check(t reflect.Type) error { return check(t, reflect.StructField{}, p, "") }

// check goes one step into t, the type of the value at the position. field is the value's field, with its tags.
func check(t reflect.Type, field reflect.StructField, p Path, place string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(p) == 0 || t.Kind() == reflect.Interface {
		return nil
	}
	step := p[0]
	switch {
	case isOneValue(t):
		return fmt.Errorf("goes into %s, which is one value", place)
	case t.Kind() == reflect.Struct && step.Keys == nil:
		inner, ok := fieldByName(t, step.Name)
		if !ok {
			return fmt.Errorf("has no field: %s of %s is unknown", step.Name, orObject(place))
		}
		return check(inner.Type, inner, p[1:], strings.TrimPrefix(place+"."+step.Name, "."))
	case t.Kind() == reflect.Map && step.Keys == nil:
		return check(t.Elem(), reflect.StructField{}, p[1:], place+"["+step.Name+"]")
	case t.Kind() == reflect.Slice && step.Keys != nil:
		if err := checkKeys(t, field, step, place); err != nil {
			return err
		}
		return check(t.Elem(), reflect.StructField{}, p[1:], place+"[...]")
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return fmt.Errorf("goes into %s, a list; name an element by its key, as in containers[name=web]", place)
	default:
		return fmt.Errorf("goes into %s, which is no list, map or struct that this could be a step into", orObject(place))
	}
}

// checkKeys checks the keys of an element. Only Kubernetes' own types have the list's keys.
func checkKeys(list reflect.Type, field reflect.StructField, step Step, place string) error {
	elem := list.Elem()
	for elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if elem.Kind() != reflect.Struct {
		return fmt.Errorf("chooses an element of %s, whose elements have no fields", place)
	}
	for _, key := range slices.Sorted(maps.Keys(step.Keys)) {
		if _, ok := fieldByName(elem, key); !ok {
			return fmt.Errorf("chooses an element of %s by %s, which is no field of it", place, key)
		}
	}
	if !strings.HasPrefix(elem.PkgPath(), "k8s.io/") || field.Name == "" {
		return nil
	}
	if !strings.Contains(field.Tag.Get("patchStrategy"), "merge") {
		return fmt.Errorf("chooses an element of %s, which the API server takes as one value; name the whole list", place)
	}
	if by := field.Tag.Get("patchMergeKey"); by != "" {
		if _, ok := step.Keys[by]; !ok {
			return fmt.Errorf("does not say by %s which element of %s is meant", by, place)
		}
	}
	return nil
}

func orObject(place string) string {
	if place == "" {
		return "the object"
	}
	return place
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

// isOneValue reports whether a type's JSON has another shape than its fields (a Quantity, a Time).
func isOneValue(t reflect.Type) bool {
	return t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType)
}

// fieldByName finds a field by its name in JSON, also in embedded structs.
func fieldByName(t reflect.Type, name string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inline := tag == "" && (field.Anonymous || strings.Contains(options, "inline"))
		if inline && field.Type.Kind() == reflect.Struct {
			if found, ok := fieldByName(field.Type, name); ok {
				return found, true
			}
		}
		if field.IsExported() && !inline && tag != "-" && (tag == name || tag == "" && field.Name == name) {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// CheckIgnorable returns an error for a path to a field that every child needs.
func (p Path) CheckIgnorable() error {
	switch p[0].Name {
	case "apiVersion", "kind", "status":
		return fmt.Errorf("names %s, which is never left to others or never written", p[0].Name)
	case "metadata":
		if len(p) == 3 && (p[1].Name == "labels" || p[1].Name == "annotations") && p[2].Name != wellknown.AnnotationDigest {
			return nil
		}
		return fmt.Errorf("names what the builder needs in metadata; only single labels and annotations can be ignored, " +
			"as metadata.annotations[example.com/x]")
	}
	return nil
}
