package subset

import (
	"bytes"
	"reflect"
)

// Typed reports whether every field that is set in desired has the same value in found. Both must have the same type.
//
// A field is set when it isn't its type's zero value. Behind a pointer, and as an element of a list or a map, every value counts as
// set. So does a custom resource's field that its JSON always has.
func Typed(desired, found any) bool {
	w, f := reflect.ValueOf(desired), reflect.ValueOf(found)
	return w.IsValid() && f.IsValid() && w.Type() == f.Type() && contains(w, f, merging{})
}

// contains compares two values of one type. The first counts only if it is set.
func contains(desired, found reflect.Value, m merging) bool {
	switch desired.Kind() {
	case reflect.Pointer, reflect.Interface:
		return desired.IsNil() || containsReferred(desired, found, m)
	case reflect.Struct:
		info := infoOf(desired.Type())
		if info.equal != nil {
			return (!info.emptyIsSet && desired.IsZero()) || info.equal(desired, found)
		}
		return containsFields(desired, found, info, m)
	case reflect.Slice, reflect.Map:
		return desired.Len() == 0 || containsSet(desired, found, m)
	default:
		return desired.IsZero() || desired.Equal(found)
	}
}

// containsSet compares two values. The first counts as set even if it is zero.
func containsSet(desired, found reflect.Value, m merging) bool {
	switch desired.Kind() {
	case reflect.Pointer, reflect.Interface:
		if desired.IsNil() {
			return found.IsNil()
		}
		return containsReferred(desired, found, m)
	case reflect.Struct:
		info := infoOf(desired.Type())
		if info.equal != nil {
			return info.equal(desired, found)
		}
		return containsFields(desired, found, info, m)
	case reflect.Slice:
		if desired.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(desired.Bytes(), found.Bytes())
		}
		return containsList(desired, found, m)
	case reflect.Map:
		return containsMap(desired, found, m)
	default:
		return desired.Equal(found)
	}
}

// containsReferred compares the values behind a pointer or an interface that isn't nil.
func containsReferred(desired, found reflect.Value, m merging) bool {
	if found.IsNil() {
		return false
	}
	w, f := desired.Elem(), found.Elem()
	return w.Type() == f.Type() && containsSet(w, f, m)
}

func containsFields(desired, found reflect.Value, info *structInfo, m merging) bool {
	for i := range info.fields {
		field := &info.fields[i]
		w := desired.Field(field.index)
		if field.omitZero && w.IsZero() {
			continue
		}
		if field.alwaysSent && !isNull(w) {
			if !containsSet(w, found.Field(field.index), m.inside(field.merging)) {
				return false
			}
			continue
		}
		if !contains(w, found.Field(field.index), m.inside(field.merging)) {
			return false
		}
	}
	return true
}

// isNull reports whether a value is null in JSON, which is never sent.
func isNull(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return v.IsNil()
	default:
		return false
	}
}
