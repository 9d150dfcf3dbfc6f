package payload

import "reflect"

// isUnset reports whether a field of one of Kubernetes' own types is empty. The server decodes a missing struct, number or string that
// isn't behind a pointer to the same value, so nothing is lost. A custom resource's schema may require one of its fields, so this rule
// doesn't apply to its own types.
func isUnset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return MarshalsItself(v.Type()) && (v.IsZero() || saysZero(v)) // other structs are empty if their fields are
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

type zeroer interface{ IsZero() bool }

// saysZero calls a type's own IsZero: a quantity read from "0" remembers its text.
func saysZero(v reflect.Value) bool {
	if z, ok := reflect.TypeAssert[zeroer](v); ok {
		return z.IsZero()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	z, ok := reflect.TypeAssert[zeroer](p)
	return ok && z.IsZero()
}

// isZero is the rule of omitzero.
func isZero(v reflect.Value) bool { return v.IsZero() || (v.Kind() != reflect.Pointer && saysZero(v)) }

// isEmpty is the rule of omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
