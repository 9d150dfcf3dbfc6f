package subset

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/armature-dev/armature/api/quantity"
)

// Untyped is Typed for objects without Go types, as decoded from JSON. Each present value counts as set, except nil and empty maps and
// lists. The merging of a list isn't known, so each must have the same elements in the same order. A map whose name ends in "selector"
// must be equal, because one with more terms selects less.
//
// It compares quantities by their value where Kubernetes' own kinds have them. If the API server stores another value in another form,
// it reports a difference; see [Guided] for kinds with a known Go type.
func Untyped(desired, found any) bool {
	return untyped{}.contains("", desired, found)
}

// Custom is Untyped for custom resources: an empty map or list counts as set, too. The API server stores it, and an empty struct may
// choose a member of a union.
func Custom(desired, found any) bool {
	return untyped{emptyIsSet: true}.contains("", desired, found)
}

// untyped compares values without a Go type.
type untyped struct{ emptyIsSet bool }

func (u untyped) contains(name string, desired, found any) bool {
	_, isMap := desired.(map[string]any)
	_, isList := desired.([]any)
	if u.emptyIsSet && found == nil && (isMap || isList) {
		return false
	}
	switch w := desired.(type) {
	case nil:
		return true
	case map[string]any:
		f, ok := found.(map[string]any)
		if !ok && found != nil {
			return false
		}
		if isSelector(name) && len(w) != len(f) {
			return false
		}
		for k, v := range w {
			if (quantities[name] || quantities[k]) && sameQuantity(v, f[k]) {
				continue
			}
			if !u.contains(k, v, f[k]) {
				return false
			}
		}
		return true
	case []any:
		f, ok := found.([]any)
		if !ok && found != nil {
			return false
		}
		if len(w) == 0 {
			return true
		}
		if len(w) != len(f) {
			return false
		}
		for i := range w {
			if !u.contains("", w[i], f[i]) {
				return false
			}
		}
		return true
	default:
		return sameNumber(desired, found) || reflect.DeepEqual(desired, found)
	}
}

// isSelector reports whether a map of this name selects objects, as the labels in a label selector do.
func isSelector(name string) bool {
	return name == "matchLabels" || strings.HasSuffix(name, "elector")
}

// sameNumber compares numbers across the types that decoders and Go programs use for them. Large integers may be the same float64.
func sameNumber(a, b any) bool {
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return i == j
		}
	}
	x, okX := number(a)
	y, okY := number(b)
	return okX && okY && x == y
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// quantities are the fields that are quantities, and those that are maps of them.
var quantities = map[string]bool{
	"requests": true, "limits": true, "hard": true, "capacity": true, "overhead": true,
	"sizeLimit": true, "divisor": true, "averageValue": true,
}

// sameQuantity reports whether two values are equal quantities. A quantity can also be a number.
func sameQuantity(a, b any) bool {
	x, err := quantity.Parse(fmt.Sprint(a))
	if err != nil {
		return false
	}
	y, err := quantity.Parse(fmt.Sprint(b))
	return err == nil && x.Cmp(y) == 0
}
