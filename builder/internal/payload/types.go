package payload

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// field is a field of a struct as encoding/json sees it, those of embedded structs among them.
type field struct {
	name      string
	index     []int
	omitEmpty bool
	omitZero  bool
	asText    bool // `,string`
	tagged    bool
	// whatIsSet is true if the field isn't sent when it is empty, as in all of Kubernetes' own types.
	whatIsSet bool
}

var structs sync.Map // reflect.Type -> []field

func fieldsOfType(t reflect.Type) []field {
	if known, ok := structs.Load(t); ok {
		return known.([]field)
	}
	known, _ := structs.LoadOrStore(t, dominant(collect(t, nil, nil)))
	return known.([]field)
}

// collect lists the fields of a struct and of those embedded in it.
func collect(t reflect.Type, index []int, found []field) []field {
	for i := range t.NumField() {
		f := t.Field(i)
		elem := f.Type
		if f.Anonymous && elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		embedded := f.Anonymous && elem.Kind() == reflect.Struct
		tag := f.Tag.Get("json")
		if tag == "-" || (!f.IsExported() && !embedded) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		at := append(slices.Clone(index), i)
		if embedded && name == "" {
			found = collect(elem, at, found)
			continue
		}
		has := func(option string) bool { return strings.Contains(","+options+",", ","+option+",") }
		field := field{
			name: name, index: at, tagged: name != "",
			omitEmpty: has("omitempty"), omitZero: has("omitzero"), asText: has("string") && isScalar(f.Type),
			whatIsSet: IsKubernetes(t),
		}
		if name == "" {
			field.name = f.Name
		}
		found = append(found, field)
	}
	return found
}

// dominant selects, among the fields of one name, the one that encoding/json uses: the least embedded, among those the one with a tag;
// none if there are several.
func dominant(all []field) []field {
	var kept []field
	for i, f := range all {
		wins := true
		for j, other := range all {
			if i == j || f.name != other.name {
				continue
			}
			deeper := len(f.index) - len(other.index)
			if deeper > 0 || (deeper == 0 && (!f.tagged || other.tagged)) {
				wins = false
			}
		}
		if wins {
			kept = append(kept, f)
		}
	}
	return kept
}

// FieldNamed returns the index of a struct's field by its name in JSON, false if encoding/json knows none.
func FieldNamed(t reflect.Type, name string) (index []int, ok bool) {
	for _, f := range fieldsOfType(t) {
		if f.name == name {
			return f.index, true
		}
	}
	return nil, false
}

// IsKubernetes reports whether a type is one of Kubernetes' own, which its API server decodes into the same Go type.
func IsKubernetes(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/") }

// labelSelectorType is the exception to the rule: an empty selector selects everything.
var labelSelectorType = reflect.TypeFor[metav1.LabelSelector]()

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	numberType        = reflect.TypeFor[json.Number]()
)

var marshalers sync.Map // reflect.Type -> bool

// MarshalsItself reports whether a type's JSON has another shape than its fields (a Quantity, a Time).
func MarshalsItself(t reflect.Type) bool {
	if known, ok := marshalers.Load(t); ok {
		return known.(bool)
	}
	p := reflect.PointerTo(t)
	does := t == numberType || t.Implements(marshalerType) || p.Implements(marshalerType) ||
		t.Implements(textMarshalerType) || p.Implements(textMarshalerType)
	marshalers.Store(t, does)
	return does
}

func isScalar(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	default:
		return false
	}
}
