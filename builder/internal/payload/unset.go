package payload

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dropUnset walks a Go value beside the JSON made of it and removes what encoding/json writes for fields that were
// never set. A struct, a number or a string that isn't behind a pointer can't be told from an absent one once the server
// has decoded it, so nothing is lost. Only fields of Kubernetes' own types are dropped: a custom resource's schema may
// require one of its fields to be there.
func dropUnset(v reflect.Value, out any) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dropUnset(v.Elem(), out)
		}
	case reflect.Struct:
		if fields, ok := out.(map[string]any); ok {
			dropUnsetFields(v, fields)
		}
	case reflect.Slice, reflect.Array:
		if list, ok := out.([]any); ok && len(list) == v.Len() {
			for i := range list {
				dropUnset(v.Index(i), list[i])
			}
		}
	case reflect.Map:
		if fields, ok := out.(map[string]any); ok && v.Type().Key().Kind() == reflect.String {
			dropUnsetValues(v, fields)
		}
	}
}

func dropUnsetValues(v reflect.Value, fields map[string]any) {
	bytes := v.Type().Elem().Kind() == reflect.Slice && v.Type().Elem().Elem().Kind() == reflect.Uint8
	for it := v.MapRange(); it.Next(); {
		key := it.Key().String()
		if bytes && it.Value().IsNil() {
			fields[key] = "" // a key of a Secret without a value is a key all the same
			continue
		}
		dropUnset(it.Value(), fields[key])
	}
}

func dropUnsetFields(v reflect.Value, fields map[string]any) {
	t := v.Type()
	known := IsKubernetes(t)
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			continue
		}
		name, inline := jsonName(field)
		if inline {
			dropUnset(v.Field(i), fields)
			continue
		}
		value, ok := fields[name]
		if name == "" || !ok {
			continue
		}
		if !marshalsItself(field.Type) {
			dropUnset(v.Field(i), value)
		}
		if known && isUnset(v.Field(i), value) {
			delete(fields, name)
		}
	}
}

// saysZero asks a type that has its own idea of zero: a quantity read from "0" remembers how it was written.
func saysZero(v reflect.Value) bool {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	z, ok := p.Interface().(interface{ IsZero() bool })
	return ok && z.IsZero()
}

// IsKubernetes reports whether a type is one of Kubernetes' own, which its API server decodes into the same Go type.
func IsKubernetes(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/") }

// labelSelectorType is the exception to the rule: an empty selector selects everything.
var labelSelectorType = reflect.TypeFor[metav1.LabelSelector]()

// isUnset reports whether a field and the JSON left of it say nothing.
func isUnset(v reflect.Value, out any) bool {
	switch v.Kind() {
	case reflect.Struct:
		if marshalsItself(v.Type()) {
			return v.IsZero() || saysZero(v)
		}
		sub, ok := out.(map[string]any)
		return ok && len(sub) == 0 && v.Type() != labelSelectorType
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// jsonName returns the name that encoding/json gives a field, empty for none, and whether its fields are its parent's.
func jsonName(field reflect.StructField) (name string, inline bool) {
	tag := field.Tag.Get("json")
	if tag == "-" {
		return "", false
	}
	name, opts, _ := strings.Cut(tag, ",")
	if name == "" && (field.Anonymous || strings.Contains(opts, "inline")) {
		return "", true
	}
	if name == "" {
		name = field.Name
	}
	return name, false
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

// marshalsItself reports whether a type's JSON has another shape than its fields (a Quantity, a Time).
func marshalsItself(t reflect.Type) bool {
	return t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType)
}

// dropNulls removes nulls: to server-side apply they are claims on fields without a value.
func dropNulls(v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if e == nil {
				delete(x, k)
				continue
			}
			dropNulls(e)
		}
	case []any:
		for _, e := range x {
			dropNulls(e)
		}
	}
}
