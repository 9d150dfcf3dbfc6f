package payload

import "reflect"

// isUnset reports whether a field of one of Kubernetes' own types says nothing. A struct, a number or a string that isn't
// behind a pointer can't be told from an absent one once the server has decoded it, so nothing is lost. A custom
// resource's schema may require one of its fields to be there: its own types aren't asked.
func isUnset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return marshalsItself(v.Type()) && (v.IsZero() || saysZero(v)) // of others their fields say
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

type zeroer interface{ IsZero() bool }

// saysZero asks a type that has its own idea of zero: a quantity read from "0" remembers how it was written.
func saysZero(v reflect.Value) bool {
	if z, ok := v.Interface().(zeroer); ok {
		return z.IsZero()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	z, ok := p.Interface().(zeroer)
	return ok && z.IsZero()
}

// isZero is what omitzero means.
func isZero(v reflect.Value) bool { return v.IsZero() || (v.Kind() != reflect.Pointer && saysZero(v)) }

// isEmpty is what omitempty means.
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
