package merge

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Amended is a merged object while it is changed into one that the API server accepts.
type Amended struct {
	Object map[string]any
	// Removed are obstructing fields that aren't desired; Kept are undesired ones that the API server doesn't let the builder remove.
	Removed, Kept []fieldpath.Path
	// Released are all fields of the builder that stay without a manager.
	Released *fieldpath.Set

	from  Objects
	tried map[string]int
}

// Amend starts from the result of a merge.
func Amend(from Objects, merged Result) *Amended {
	return &Amended{Object: merged.Object, Released: merged.Released, from: from, tried: map[string]int{}}
}

// Direct changes the object at refused fields that aren't desired: it removes them, with the smallest undesired list element around
// them, or else with the whole undesired part. It restores a live, undesired field that can't be removed, without a manager. If an
// undesired entry isn't valid without the field, it removes the entry instead. It leaves what is ignored or fixed. It reports whether
// there was such a field.
func (a *Amended) Direct(faults []string) bool {
	var kept, removed []fault
	for _, field := range faults {
		f, keep := a.faultAt(stepsOf(field))
		isSame := func(other fault) bool { return slices.Equal(f.steps, other.steps) }
		switch {
		case f.steps == nil || slices.ContainsFunc(kept, isSame) || slices.ContainsFunc(removed, isSame):
		case keep:
			kept = append(kept, f)
		default:
			removed = append(removed, f)
		}
	}
	for _, f := range kept {
		a.keep(f.steps, f.spot)
	}
	slices.SortStableFunc(removed, func(f, other fault) int { return compareSteps(other.steps, f.steps) }) // so that indexes stay valid
	for _, f := range removed {
		a.remove(f.steps, f.spot)
	}
	return len(kept)+len(removed) > 0
}

// fault is the place of an undesired part that a refused field is in.
type fault struct {
	steps []step
	spot
}

// faultAt returns the place to change because of a refused field, none if the field is desired, ignored or fixed, and whether a live
// field is to be restored there.
func (a *Amended) faultAt(steps []step) (f fault, keep bool) {
	spots := a.spots(steps)
	last := spots[len(spots)-1]
	if len(spots) == len(steps)+1 && last.object == nil && last.desired == nil && last.live != nil && last.fresh == nil {
		around := spots[len(spots)-2]
		if around.isOurs && around.desired == nil && around.object != nil && !around.isKept() && len(around.ignored) == 0 {
			return fault{steps[:len(steps)-1], around}, false // without the field, what is left around it isn't valid
		}
		return fault{steps, last}, true
	}
	for i, s := range spots[1:] {
		if s.isIgnoredOrFixed() {
			break
		}
		isElement := s.at[len(s.at)-1].Key != nil || s.at[len(s.at)-1].Value != nil
		if s.desired == nil && s.object != nil && (f.steps == nil || isElement) {
			f = fault{steps[:i+1], s}
		}
	}
	if f.steps == nil || f.isKept() || len(f.ignored) > 0 {
		return fault{}, false
	}
	return f, false
}

// compareSteps orders places by their names and indexes, and one before what is in it.
func compareSteps(one, other []step) int {
	return slices.CompareFunc(one, other, func(s, t step) int {
		if s.index >= 0 && t.index >= 0 {
			return cmp.Compare(s.index, t.index)
		}
		return cmp.Compare(s.name, t.name)
	})
}

// Widen removes undesired fields around a desired field that the API server refused: first the same key in another map, then the
// alternatives that the message names and the list elements with the same value, then all in the smallest struct, list element or list
// around it, with each call in a wider one. It never removes a desired, a fixed or an ignored field. It reports whether there was
// anything left to remove.
func (a *Amended) Widen(field, message string) bool {
	steps, key := stepsOf(field), shape(field)
	if len(steps) == 0 {
		return a.widenWhole(message)
	}
	spots := a.spots(steps)
	if a.removeDuplicateKey(spots, steps, message) {
		return true
	}
	for ; ; a.tried[key]++ {
		try := a.tried[key]
		i := len(spots) - 1 - try/2
		if i < 1 {
			return false
		}
		s, all := spots[i], try%2 == 1
		if s.desired == nil || s.object == nil {
			continue
		}
		before := len(a.Removed)
		named := func(name string) bool { return all || mentions(message, name) }
		a.Object = rewrite(a.Object, steps[:i], func(any) any {
			switch {
			case isList(s.object) && !all && i < len(steps):
				value := valueOf(spots, steps)
				return a.withoutTwins(s, func(element any) bool { return value != nil && has(element, steps[i+1:], value) })
			case isList(s.object) && !all:
				return a.withoutTwins(s, func(element any) bool { return sharesNamed(element, s, message) })
			}
			return a.strip(s, named, all)
		}).(map[string]any)
		if len(a.Removed) > before {
			return true // another fault of this shape may have as few obstructing fields
		}
	}
}

// widenWhole removes undesired fields when the API server refused the object as a whole: first those that the message names, then all.
// The refusal has no field, but rules of custom resources know no metadata except the name, and don't change the status.
func (a *Amended) widenWhole(message string) bool {
	whole := a.spots(nil)[0]
	for ; a.tried[""] < 2; a.tried[""]++ {
		all, before := a.tried[""] == 1, len(a.Removed)
		named := func(name string) bool { return all || mentions(message, name) }
		out := maps.Clone(a.Object)
		for _, name := range slices.Sorted(maps.Keys(a.Object)) {
			if !isContent(name) {
				continue
			}
			s := whole.named(name)
			switch {
			case s.desired != nil:
				out[name] = a.strip(s, named, true)
			case !s.isKept() && len(s.ignored) == 0 && named(name):
				a.Removed = append(a.Removed, s.at)
				delete(out, name)
			}
		}
		if a.Object = out; len(a.Removed) > before {
			return true
		}
	}
	return false
}

// valueOf returns the value at a field, nil if the object doesn't have it.
func valueOf(spots []spot, steps []step) any {
	if len(spots) <= len(steps) {
		return nil
	}
	return spots[len(steps)].object
}

// removeDuplicateKey removes an undesired entry of the same key in another map, which the message names: a ConfigMap has a key in data or
// in binaryData. It reports whether there was one.
func (a *Amended) removeDuplicateKey(spots []spot, steps []step, message string) bool {
	for i := min(len(spots), len(steps)-1) - 1; i >= 0; i-- {
		for _, name := range slices.Sorted(maps.Keys(fields(spots[i].object))) {
			if name == steps[i].name || i == 0 && !isContent(name) || !mentions(message, name) {
				continue
			}
			place := slices.Concat(steps[:i], []step{{name, -1}}, steps[i+1:])
			others := a.spots(place)
			last := others[len(others)-1]
			stays := slices.ContainsFunc(others[i+1:], func(s spot) bool { return isList(s.object) || s.isIgnoredOrFixed() })
			if len(others) == len(place)+1 && !stays && last.object != nil && last.desired == nil && len(last.ignored) == 0 &&
				a.remove(place, last) {
				return true
			}
		}
	}
	return false
}

// isContent reports whether a field of an object is not one that all kinds have.
func isContent(name string) bool {
	return !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name)
}

// withoutTwins returns a list without the undesired elements that have a value of a desired one that must be unique.
func (a *Amended) withoutTwins(s spot, isTwin func(element any) bool) any {
	keys := keysOf(s.owned)
	if keys == nil {
		return s.object
	}
	var out []any
	for i, element := range list(s.object) {
		n := s.elementOf(element, keys, i)
		if n.desired == nil && !n.isKept() && len(n.ignored) == 0 && isTwin(element) {
			a.Removed = append(a.Removed, n.at)
			continue
		}
		out = append(out, element)
	}
	return out
}

// sharesNamed reports whether an element of a list has in a field that is no key the same number as a desired element, and the message
// names that number.
func sharesNamed(element any, s spot, message string) bool {
	for name, value := range fields(element) {
		switch value.(type) {
		case int64, float64:
			if !slices.Contains(keysOf(s.owned), name) && mentions(message, fmt.Sprint(value)) && has(s.desired, []step{{}, {name, -1}}, value) {
				return true
			}
		}
	}
	return false
}

// has reports whether a value exists at a field, in any element of the lists in between.
func has(in any, place []step, value any) bool {
	if len(place) == 0 {
		return reflect.DeepEqual(in, value)
	}
	if elements, ok := in.([]any); ok {
		return slices.ContainsFunc(elements, func(element any) bool { return has(element, place[1:], value) })
	}
	return has(field(in, place[0].name), place[1:], value)
}

// spot is a position on the path to a field.
type spot struct {
	at                           fieldpath.Path
	object, desired, live, fresh any
	owned, ours, fixed           *fieldpath.Set
	isOurs, isFixed              bool
	ignored                      []paths.Path
}

func (s spot) isKept() bool { return s.isIgnoredOrFixed() || !s.fixed.Empty() }

// isIgnoredOrFixed reports whether the value as a whole is ignored or fixed, and so is all that is in it.
func (s spot) isIgnoredOrFixed() bool {
	return s.isFixed || slices.ContainsFunc(s.ignored, func(p paths.Path) bool { return len(p) == 0 })
}

// spots are the positions from the object itself to the field, as far as the object, or the live one, has them.
func (a *Amended) spots(steps []step) []spot {
	o := a.from
	here := spot{
		object: any(a.Object), desired: any(o.Desired), live: any(o.Live), fresh: asAny(o.Fresh),
		owned: o.Ours.Union(o.Others), ours: o.Ours, fixed: o.Fixed, ignored: o.Ignored,
	}
	all := []spot{here}
	for _, s := range steps {
		next, ok := here.next(s)
		if !ok {
			break
		}
		here = next
		all = append(all, here)
	}
	return all
}

func (s spot) next(to step) (spot, bool) {
	elements, isList := s.object.([]any)
	if !isList {
		n := s.named(to.name)
		return n, n.object != nil || n.live != nil
	}
	if to.index < 0 || to.index >= len(elements) {
		return spot{}, false
	}
	return s.elementOf(elements[to.index], keysOf(s.owned), to.index), true
}

func (s spot) named(name string) spot {
	element := fieldpath.PathElement{FieldName: &name}
	n := s.in(element)
	n.object, n.desired, n.live, n.fresh = field(s.object, name), field(s.desired, name), field(s.live, name), field(s.fresh, name)
	n.ignored = inField(s.ignored, name)
	return n
}

// elementOf is the position of an element of a list. If the list has no keys, it is the one of that index.
func (s spot) elementOf(element any, keys []string, index int) spot {
	if keys == nil {
		n := s.in(fieldpath.PathElement{Index: &index})
		n.object, n.desired, n.live = element, at(s.desired, index), at(s.live, index)
		return n
	}
	n := s.in(elementOf(element, keys))
	n.object = element
	n.desired = at(s.desired, desiredAs(list(s.desired), s.fresh, element, keys, n.isOurs || !n.ours.Empty()))
	n.live, n.fresh = at(s.live, matching(list(s.live), element, keys)), at(s.fresh, matching(list(s.fresh), element, keys))
	n.ignored = inElement(s.ignored, element)
	return n
}

func (s spot) in(element fieldpath.PathElement) spot {
	return spot{
		at: append(slices.Clone(s.at), element), owned: s.owned.WithPrefix(element),
		ours: s.ours.WithPrefix(element), isOurs: s.ours.Members.Has(element),
		fixed: s.fixed.WithPrefix(element), isFixed: s.fixed.Members.Has(element),
	}
}

func at(l any, i int) any {
	if in := list(l); i >= 0 && i < len(in) {
		return in[i]
	}
	return nil
}

// keep restores a field that the API server doesn't let the builder remove.
func (a *Amended) keep(steps []step, s spot) {
	a.Object = rewrite(a.Object, steps, func(any) any { return copied(s.live) }).(map[string]any)
	a.Kept = append(a.Kept, s.at)
	a.Released.Insert(s.at)
	s.owned.Iterate(func(p fieldpath.Path) { a.Released.Insert(append(slices.Clone(s.at), p.Copy()...)) })
}

// remove removes a field that isn't desired.
func (a *Amended) remove(steps []step, s spot) bool {
	if s.isKept() {
		return false
	}
	a.Removed = append(a.Removed, s.at)
	a.Object = rewrite(a.Object, steps, func(any) any { return nil }).(map[string]any)
	return true
}

// strip returns a value without its undesired, named fields. If deep, it also removes those inside; the elements of a list have no
// name.
func (a *Amended) strip(s spot, named func(string) bool, deep bool) any {
	switch v := s.object.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) { // in the order in which an event names what was removed
			n, in := s.named(name), v[name]
			switch {
			case n.desired != nil && deep:
				out[name] = a.strip(n, named, deep)
			case n.desired != nil || n.isKept() || len(n.ignored) > 0 || !named(name):
				out[name] = in
			default:
				a.Removed = append(a.Removed, n.at)
			}
		}
		return out
	case []any:
		keys := keysOf(s.owned)
		if keys == nil || !deep {
			return v
		}
		out := make([]any, 0, len(v))
		for i, element := range v {
			n := s.elementOf(element, keys, i)
			switch {
			case n.desired != nil:
				out = append(out, a.strip(n, named, deep))
			case n.isKept() || len(n.ignored) > 0 || !named(""):
				out = append(out, element)
			default:
				a.Removed = append(a.Removed, n.at)
			}
		}
		return out
	default:
		return v
	}
}

// rewrite returns a value with another one at a position; nil removes the position. It copies what it changes.
func rewrite(v any, steps []step, with func(any) any) any {
	if len(steps) == 0 {
		return with(v)
	}
	s := steps[0]
	if l, isList := v.([]any); isList {
		if s.index < 0 || s.index >= len(l) {
			return v
		}
		out := slices.Clone(l)
		in := rewrite(out[s.index], steps[1:], with)
		if in == nil {
			return slices.Delete(out, s.index, s.index+1)
		}
		out[s.index] = in
		return out
	}
	out := map[string]any{}
	maps.Copy(out, fields(v))
	if in := rewrite(out[s.name], steps[1:], with); in != nil {
		out[s.name] = in
	} else {
		delete(out, s.name)
	}
	return out
}

func fields(v any) map[string]any {
	f, _ := v.(map[string]any)
	return f
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
