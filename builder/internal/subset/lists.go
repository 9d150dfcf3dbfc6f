package subset

import (
	"cmp"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/internal/payload"
)

func containsList(desired, found reflect.Value, m merging) bool {
	n := desired.Len()
	if m.key == "" {
		if n != found.Len() {
			return false
		}
		for i := range n {
			if !containsSet(desired.Index(i), found.Index(i), m.inside(merging{})) {
				return false
			}
		}
		return true
	}
	if n > found.Len() {
		return false
	}
	for i := range n { // the order is mostly the same
		if !matches(desired.Index(i), found.Index(i), m.key) {
			taken := pairs(n, found.Len(), func(w, f int) bool { return matches(desired.Index(w), found.Index(f), m.key) })
			return taken != nil && !(m.ordered && isReordered(taken)) && !hasTwin(desired, found, m.key, taken)
		}
	}
	return n == found.Len() || !hasTwin(desired, found, m.key, nil)
}

// hasTwin reports whether an observed element that matches no desired one has the key of one all the same: the API server stores two
// variables of a name, and the last one counts. Without taken, the first elements match.
func hasTwin(desired, found reflect.Value, key string, taken []int) bool {
	if key == setKey || !payload.IsKubernetes(desired.Type().Elem()) { // of others the tag may name a part of the key only
		return false
	}
	return hasUntaken(desired.Len(), found.Len(), taken, func(w, f int) bool { return sameKey(desired.Index(w), found.Index(f), key) })
}

// hasUntaken reports whether a found element that isn't taken has the key of a desired one.
func hasUntaken(desired, found int, taken []int, sameKey func(w, f int) bool) bool {
	for f := range found {
		if taken == nil && f < desired || taken != nil && taken[f] != 0 {
			continue
		}
		for w := range desired {
			if sameKey(w, f) {
				return true
			}
		}
	}
	return false
}

// isReordered reports whether the observed order of the desired elements differs.
func isReordered(taken []int) bool {
	last := 0
	for _, w := range taken {
		if w != 0 && w < last {
			return true
		}
		last = max(last, w)
	}
	return false
}

// matches reports whether found is the element for desired.
func matches(desired, found reflect.Value, key string) bool {
	return sameKey(desired, found, key) && containsSet(desired, found, merging{})
}

// pairs finds an observed element for each desired one. It returns for each observed element the index of its desired one, plus one;
// nil if a desired one has none. For a custom resource's list the tag may name only one part of a compound key, so an element can
// match several; each is used only once. Lists are short: this is the textbook's bipartite matching by augmenting paths.
func pairs(desired, found int, matches func(w, f int) bool) (taken []int) {
	taken = make([]int, found)
	var assign func(w int, tried []bool) bool
	assign = func(w int, tried []bool) bool {
		for f := range taken {
			if tried[f] || !matches(w, f) {
				continue
			}
			tried[f] = true
			if taken[f] == 0 || assign(taken[f]-1, tried) {
				taken[f] = w + 1
				return true
			}
		}
		return false
	}
	for w := range desired {
		if !assign(w, make([]bool, found)) {
			return nil
		}
	}
	return taken
}

func sameKey(a, b reflect.Value, key string) bool {
	if key == setKey {
		return true // the element is its own key
	}
	for a.Kind() == reflect.Pointer {
		if a.IsNil() || b.IsNil() {
			return false
		}
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Struct {
		return true
	}
	field, ok := payload.FieldNamed(a.Type(), key)
	if !ok {
		return false
	}
	x, err := a.FieldByIndexErr(field)
	y, otherErr := b.FieldByIndexErr(field)
	return err == nil && otherErr == nil && x.Comparable() && x.Equal(y) && sameSecondKey(a, b)
}

// secondKey is the second field of a compound key, of which a tag names the first only.
type secondKey struct {
	field     string
	otherwise string // the meaning of an empty one
}

var secondKeys = map[reflect.Type]secondKey{
	reflect.TypeFor[corev1.ContainerPort]():            {"Protocol", string(corev1.ProtocolTCP)},
	reflect.TypeFor[corev1.ServicePort]():              {"Protocol", string(corev1.ProtocolTCP)},
	reflect.TypeFor[corev1.TopologySpreadConstraint](): {"WhenUnsatisfiable", ""},
}

func sameSecondKey(a, b reflect.Value) bool {
	second, ok := secondKeys[a.Type()]
	if !ok {
		return true
	}
	x, y := a.FieldByName(second.field).String(), b.FieldByName(second.field).String()
	return cmp.Or(x, second.otherwise) == cmp.Or(y, second.otherwise)
}
