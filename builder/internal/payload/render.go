package payload

import (
	"encoding/base64"
	"math"
	"reflect"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/json"
)

// render returns the value that decoding the JSON of v would return, without empty values. It makes no JSON text, because it runs for
// each child that isn't known to be up to date.
func render(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return render(v.Elem())
	case reflect.Invalid:
		return nil, nil
	}
	if MarshalsItself(v.Type()) {
		return renderValue(v)
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := make(map[string]any)
		return fields, renderFields(v, fields)
	case reflect.Map:
		return renderMap(v)
	case reflect.Slice:
		if v.IsNil() {
			return nil, nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 && !MarshalsItself(v.Type().Elem()) {
			return base64.StdEncoding.EncodeToString(v.Bytes()), nil
		}
		return renderList(v)
	case reflect.Array:
		return renderList(v)
	case reflect.String:
		if s := v.String(); utf8.ValidString(s) {
			return s, nil
		}
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n <= math.MaxInt64 {
			return int64(n), nil
		}
	}
	return viaJSON(v)
}

func renderFields(v reflect.Value, into map[string]any) error {
	for _, f := range fieldsOfType(v.Type()) {
		value, ok := follow(v, f.index)
		if !ok || (f.omitZero && isZero(value)) || (f.omitEmpty && isEmpty(value)) || (f.whatIsSet && isUnset(value)) {
			continue
		}
		out, err := render(value)
		if err == nil && f.asText && out != nil {
			out, err = asText(value)
		}
		if err != nil {
			return err
		}
		isUnsetStruct := f.whatIsSet && value.Kind() == reflect.Struct && value.Type() != labelSelectorType
		if sub, ok := out.(map[string]any); ok && len(sub) == 0 && isUnsetStruct {
			continue
		}
		if out != nil { // server-side apply would own a null as a field without a value
			into[f.name] = out
		}
	}
	return nil
}

// follow returns a field of a struct or of an embedded one, false if a pointer in between is nil.
func follow(v reflect.Value, index []int) (reflect.Value, bool) {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, true
}

func renderList(v reflect.Value) (any, error) {
	list := make([]any, v.Len())
	for i := range list {
		var err error
		if list[i], err = render(v.Index(i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func renderMap(v reflect.Value) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	if v.Type().Key().Kind() != reflect.String {
		return viaJSON(v)
	}
	fields := make(map[string]any, v.Len())
	elem := v.Type().Elem()
	bytes := elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Uint8
	for it := v.MapRange(); it.Next(); {
		out, err := render(it.Value())
		if err != nil {
			return nil, err
		}
		if out == nil && bytes {
			out = "" // a key of a Secret without a value is a key all the same
		}
		if out != nil {
			fields[it.Key().String()] = out
		}
	}
	return fields, nil
}

// renderValue renders a type with its own JSON form.
func renderValue(v reflect.Value) (any, error) {
	switch x := v.Interface().(type) {
	case resource.Quantity:
		return x.String(), nil
	case intstr.IntOrString:
		if x.Type == intstr.String {
			return x.StrVal, nil
		}
		return int64(x.IntVal), nil
	}
	return viaJSON(v)
}

// viaJSON renders a value through its JSON text.
func viaJSON(v reflect.Value) (any, error) {
	value := v.Interface()
	if v.CanAddr() {
		value = v.Addr().Interface() // a MarshalJSON may need a pointer
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	dropNulls(out)
	return out, nil
}

func asText(v reflect.Value) (any, error) {
	data, err := json.Marshal(v.Interface())
	return string(data), err
}

// dropNulls removes nulls.
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
