package merge

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// listKeys returns the names of a list's key fields, none if it is a set of scalars, and nil if the node is no list with keys.
func (n node) listKeys() []string {
	if !isList(n.live) || n.desired != nil && !isList(n.desired) {
		return nil
	}
	return keysOf(n.ours, n.others)
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// keysOf returns the names of the keys in the managed fields below a list.
func keysOf(sets ...*fieldpath.Set) (keys []string) {
	see := func(element fieldpath.PathElement) {
		switch {
		case keys != nil:
		case element.Value != nil:
			keys = []string{}
		case element.Key != nil:
			for _, f := range *element.Key {
				keys = append(keys, f.Name)
			}
		}
	}
	for _, set := range sets {
		set.Members.Iterate(see)
		set.Children.Iterate(see)
	}
	return keys
}

// list merges lists by their keys, in the order of a server-side apply.
func (m *merger) list(n node, keys []string) any {
	live, _ := n.live.([]any)
	desired, _ := n.desired.([]any)
	as := make([]int, len(live)) // the desired element that a live one is; -1: none
	taken := make([]bool, len(desired))
	for i, element := range live {
		c := n.child(elementOf(element, keys))
		as[i] = desiredAs(desired, n.fresh, element, keys, c.ownedByUs())
		if as[i] >= 0 && taken[as[i]] {
			as[i] = -1
		}
		if as[i] >= 0 {
			taken[as[i]] = true
		}
	}
	out := make([]any, 0, len(live)+len(desired))
	for _, p := range inOrder(as, len(desired)) {
		if p.live < 0 {
			element := desired[p.desired]
			c := n.child(elementOf(element, keys))
			c.desired = element
			m.differs(c)
			out = append(out, copied(element))
			continue
		}
		element := live[p.live]
		c := n.child(elementOf(element, keys))
		c.live, c.desired = element, at(desired, p.desired)
		if fresh, ok := n.fresh.([]any); ok {
			c.fresh = at(fresh, matching(fresh, element, keys))
		}
		c.ignored = inElement(n.ignored, element)
		if v := m.element(c, keys); v != nil {
			out = append(out, v)
		}
	}
	if len(out) == 0 && n.desired == nil && !n.isOthers {
		return nil
	}
	return out
}

// place is an element of a merged list: its indexes in the live and in the desired list, -1 where it isn't.
type place struct{ live, desired int }

// inOrder returns the elements of a merged list in the order that an apply gives them (visitListItems of structured-merge-diff): the
// desired ones in their own order, and the others where they are among them. as has the desired element that each live one is, -1 for
// none.
func inOrder(as []int, desired int) []place {
	liveOf := slices.Repeat([]int{-1}, desired)
	for i, j := range as {
		if j >= 0 {
			liveOf[j] = i
		}
	}
	nextShared := slices.Repeat([]int{-1}, desired+1) // the first desired element from an index on that is live, too
	for j := desired - 1; j >= 0; j-- {
		nextShared[j] = nextShared[j+1]
		if liveOf[j] >= 0 {
			nextShared[j] = j
		}
	}
	var out []place
	for i, j := 0, 0; i < len(as) || j < desired; {
		if i < len(as) {
			switch {
			case as[i] < 0:
				out = append(out, place{i, -1})
				i++
				continue
			case as[i] == j:
				out = append(out, place{i, j})
				i, j = i+1, j+1
				continue
			case nextShared[j] >= 0 && as[i] != nextShared[j]: // its turn comes among the desired ones
				i++
				continue
			case as[i] < j:
				i++
			}
		}
		if j < desired {
			out = append(out, place{liveOf[j], j})
			j++
		}
	}
	return out
}

// element returns the merged element of a list with keys. An undesired element of the builder goes, as an apply removes it, also with
// fields in it that another manager has changed. Of an element that another manager owns itself, the other's part stays.
func (m *merger) element(n node, keys []string) any {
	switch {
	case n.isIgnored(): // the desired one may lack a key that the path names, and be desired for that
		return n.live
	case n.desired != nil:
		if _, isMap := n.live.(map[string]any); isMap {
			return m.maps(n)
		}
		return n.live
	case !n.ownedByUs() || len(n.ignored) > 0 || m.Drift:
		return n.live
	case n.isOthers:
		return m.shared(n, keys)
	default:
		m.Differences = append(m.Differences, Difference{Path: n.at})
		return nil
	}
}

// shared returns the remaining part of an undesired element that another manager owns as well: without the fields that only the builder
// owns, but with its keys.
func (m *merger) shared(n node, keys []string) any {
	if _, isMap := n.live.(map[string]any); !isMap {
		return n.live
	}
	left, _ := m.maps(n).(map[string]any)
	if left == nil {
		left = map[string]any{}
	}
	for _, key := range keys {
		if value := field(n.live, key); value != nil {
			left[key] = value
		}
	}
	return left
}

// inElement returns the ignored paths that lead into an element.
func inElement(ignored []paths.Path, element any) []paths.Path {
	return inside(ignored, func(s paths.Step) bool { return s.Chooses(element) })
}

// desiredAs returns the index of the desired element that matches a live one. The live one has all its keys. The desired one may lack
// some that the schema of a custom resource has defaults for. Only the API server knows which: the fresh list has them. Without one, a live
// element that the builder owns is the one. Of several desired elements that match, it is the one in the place of the fresh list,
// otherwise the one with the most keys. The merge removes the missing key with other undesired fields, and the API server sets its
// default again.
func desiredAs(desired []any, fresh, live any, keys []string, isOurs bool) int {
	i := matching(desired, live, keys)
	if i >= 0 || len(keys) < 2 {
		return i
	}
	isDesired := isOurs
	made, isKnown := fresh.([]any)
	index := matching(made, live, keys)
	if isKnown {
		isDesired = index >= 0
	}
	if !isDesired {
		return -1
	}
	best, most := -1, 0
	for i, element := range desired {
		given := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return keyOf(element, key) == nil })
		if len(given) == 0 || len(given) == len(keys) || matching([]any{element}, live, given) < 0 {
			continue
		}
		if i == index && len(made) == len(desired) { // the API server keeps their order
			return i
		}
		if len(given) > most {
			best, most = i, len(given)
		}
	}
	return best
}

// matching returns the index of the element with the same keys as another one. A key that one of both lacks has its default, which is
// known only for a port's protocol.
func matching(in []any, element any, keys []string) int {
	if len(keys) == 0 {
		return slices.IndexFunc(in, func(other any) bool { return reflect.DeepEqual(other, element) })
	}
	return slices.IndexFunc(in, func(other any) bool {
		for _, key := range keys {
			if !reflect.DeepEqual(keyOf(other, key), keyOf(element, key)) {
				return false
			}
		}
		return true
	})
}

func keyOf(element any, key string) any {
	v := field(element, key)
	if v == nil && key == "protocol" {
		return "TCP"
	}
	return v
}

// elementOf returns the step of a field path that leads to an element.
func elementOf(element any, keys []string) fieldpath.PathElement {
	if len(keys) == 0 {
		v := value.NewValueInterface(element)
		return fieldpath.PathElement{Value: &v}
	}
	list := value.FieldList{}
	for _, key := range keys {
		list = append(list, value.Field{Name: key, Value: value.NewValueInterface(keyOf(element, key))})
	}
	list.Sort()
	return fieldpath.PathElement{Key: &list}
}
