package paths

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-dev/armature/builder/internal/payload"
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
	case payload.MarshalsItself(t):
		return fmt.Errorf("goes into %s, which is one value", place)
	case t.Kind() == reflect.Struct && step.Keys == nil:
		index, ok := payload.FieldNamed(t, step.Name)
		if !ok {
			return fmt.Errorf("has no field: %s of %s is unknown", step.Name, orObject(place))
		}
		inner := t.FieldByIndex(index)
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
		if _, ok := payload.FieldNamed(elem, key); !ok {
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
