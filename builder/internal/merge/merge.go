package merge

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Objects are the input of a merge.
type Objects struct {
	Live, Desired map[string]any
	// Fresh is the object that the API server would make of Desired without a live object. Nil: it isn't known. If it is known, unmanaged
	// fields get its values.
	Fresh map[string]any
	// Release keeps the builder's fields that Desired lacks, without a manager, if they are the same in Fresh.
	Release bool
	// Ours are the fields that the builder owns, Others those of all other managers. Fixed are fields that were written through a
	// subresource, such as an autoscaler's replicas, and fields that stay even without a manager: the merge never removes a fixed field.
	Ours, Others, Fixed *fieldpath.Set
	// Drift is true if the desired state is unchanged: then the merge removes none of the builder's fields.
	Drift bool
	// Ignored fields stay as they are.
	Ignored []paths.Path
	// Unique reports whether a field, or a value of Fresh, is unique to each object, such as a cluster IP.
	Unique func(at fieldpath.Path, fresh any) bool
	// Plain reports whether an unmanaged value is known to be the same in a new object.
	Plain func(name string, value any, desiredBeside map[string]any) bool
}

// Result is the result of a merge.
type Result struct {
	// Object is Desired over Live.
	Object map[string]any
	// Released are fields of the builder that stay, without a manager from now on.
	Released *fieldpath.Set
	// MayDerive is true if unmanaged values may derive from a change: a field was added or removed beside one that isn't plain, another
	// alternative was chosen, or a value isn't the one that would derive from the field beside it.
	MayDerive bool
	// Stale is true if the merge omitted unmanaged fields because a fresh object has other values.
	Stale bool
	// Differences are the fields in which Live differs from the desired state.
	Differences []Difference
}

// Difference is a field in which a live object differs from the desired one.
type Difference struct {
	Path fieldpath.Path
	// Theirs is true if another manager has set the value.
	Theirs bool
}

// Run merges.
func Run(o Objects) Result {
	m := &merger{Objects: o}
	m.Released = fieldpath.NewSet()
	root := node{live: any(o.Live), desired: any(o.Desired), fresh: asAny(o.Fresh), ours: o.Ours, others: o.Others, ignored: o.Ignored}
	m.Object, _ = m.maps(root).(map[string]any)
	m.MayDerive = m.chosen || m.reshaped && m.special
	return m.Result
}

func asAny(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

type merger struct {
	Objects
	Result
	reshaped bool // a field was added or removed
	special  bool // there is an unmanaged value that isn't plain
	chosen   bool // another alternative was chosen
}

// node is a position in the objects. An absent value is nil. The sets are the managed fields below the position.
type node struct {
	at                   fieldpath.Path
	live, desired, fresh any
	ours, others         *fieldpath.Set
	isOurs, isOthers     bool // the field itself is owned
	ignored              []paths.Path
	metadata             bool
}

func (n node) ownedByUs() bool     { return n.isOurs || !n.ours.Empty() }
func (n node) ownedByOthers() bool { return n.isOthers || !n.others.Empty() }

// isIgnored reports whether a path to ignore ends here.
func (n node) isIgnored() bool {
	return slices.ContainsFunc(n.ignored, func(p paths.Path) bool { return len(p) == 0 })
}

// isAtomic reports whether a map or a list is one value: it has a manager, and nothing in it has.
func (n node) isAtomic() bool {
	return (n.isOurs || n.isOthers) && n.ours.Empty() && n.others.Empty()
}

func (n node) child(element fieldpath.PathElement) node {
	c := node{
		at:   append(slices.Clone(n.at), element),
		ours: n.ours.WithPrefix(element), others: n.others.WithPrefix(element),
		isOurs: n.ours.Members.Has(element), isOthers: n.others.Members.Has(element),
		metadata: n.metadata,
	}
	if name := element.FieldName; name != nil {
		c.live, c.desired, c.fresh = field(n.live, *name), field(n.desired, *name), field(n.fresh, *name)
		c.metadata = n.metadata || len(n.at) == 0 && *name == "metadata"
	}
	return c
}

func field(of any, name string) any {
	fields, _ := of.(map[string]any)
	return fields[name]
}

// value returns the merged value, nil if it is removed.
func (m *merger) value(n node) any {
	switch {
	case n.isIgnored():
		return n.live
	case n.live == nil && n.desired == nil:
		return nil
	case n.live == nil:
		m.differs(n)
		return copied(n.desired)
	case n.desired == nil:
		return m.leftover(n)
	}
	_, liveIsMap := n.live.(map[string]any)
	_, desiredIsMap := n.desired.(map[string]any)
	if liveIsMap && desiredIsMap && !n.isAtomic() {
		return m.maps(n)
	}
	if keys := n.listKeys(); keys != nil {
		return m.list(n, keys)
	}
	if !reflect.DeepEqual(n.live, n.desired) {
		m.differs(n)
	}
	return copied(n.desired)
}

func (m *merger) differs(n node) {
	m.Differences = append(m.Differences, Difference{n.at, n.live != nil && !n.ownedByUs() && n.ownedByOthers()})
}

// leftover returns the remaining part of an undesired value: fields of other managers, unmanaged fields that a fresh object has as
// well, and fields that the builder owns only because the API server chose them at the creation.
func (m *merger) leftover(n node) any {
	_, isMap := n.live.(map[string]any)
	descend := isMap && !n.isAtomic()
	switch {
	case n.ownedByOthers():
		if descend && !n.ours.Empty() {
			return m.maps(n)
		}
		if keys := n.listKeys(); keys != nil && !n.ours.Empty() {
			return m.list(n, keys)
		}
		return n.live
	case n.ownedByUs():
		if m.Drift {
			return n.live
		}
		if m.Release && m.Fresh != nil && !n.metadata && reflect.DeepEqual(n.live, n.fresh) {
			m.release(n)
			return n.live
		}
		if descend && !n.ours.Empty() {
			return m.maps(n)
		}
		if len(n.ignored) > 0 {
			return n.live
		}
		m.reshaped = m.reshaped || !n.metadata
		m.Differences = append(m.Differences, Difference{Path: n.at})
		return nil
	}
	return m.unowned(n, descend)
}

// unowned returns the remaining part of a value without a manager.
func (m *merger) unowned(n node, isMap bool) any {
	if n.metadata || m.Fixed.Has(n.at) {
		return n.live
	}
	_, freshIsMap := n.fresh.(map[string]any)
	switch {
	case m.Fresh == nil, reflect.DeepEqual(n.live, n.fresh), m.Unique(n.at, n.fresh):
		return n.live
	case isMap && (freshIsMap && !hasMore(n.fresh, n.live) || len(n.ignored) > 0 || paths.HasBelow(m.Fixed, n.at)):
		return m.maps(n)
	case len(n.ignored) > 0:
		return n.live
	}
	m.Stale = true
	return nil
}

// hasMore reports whether one map has a key that another one lacks. The API server derives an absent map as a whole, and leaves a present
// one without the key.
func hasMore(one, other any) bool {
	for name := range fields(one) {
		if field(other, name) == nil {
			return true
		}
	}
	return false
}

func (m *merger) release(n node) {
	m.Released.Insert(n.at)
	n.ours.Iterate(func(p fieldpath.Path) { m.Released.Insert(append(slices.Clone(n.at), p.Copy()...)) })
}

// maps merges maps by their keys. It removes a map that becomes empty, unless another manager owns the map itself.
func (m *merger) maps(n node) any {
	live, _ := n.live.(map[string]any)
	desired, _ := n.desired.(map[string]any)
	names := map[string]bool{}
	for name := range live {
		names[name] = true
	}
	for name := range desired {
		names[name] = true
	}
	out := make(map[string]any, len(names))
	chosen, alternatives, comesBack := false, false, false
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := n.child(fieldpath.PathElement{FieldName: &name})
		c.ignored = inField(n.ignored, name)
		if !c.metadata && len(n.at) > 0 {
			came, another := c.isNew(), c.isAnotherText()
			m.reshaped, chosen = m.reshaped || came, chosen || came || another
			if c.isUnmanaged() {
				in, isMap := c.live.(map[string]any)
				plain := m.plain(name, c.live, desired)
				alternatives = alternatives || isMap && len(in) > 0 && !plain
				m.special = m.special || !plain
				m.chosen = m.chosen || !plain && m.plain(name, c.live, live)
			}
		}
		v := m.value(c)
		if v != nil {
			out[name] = v
		}
		comesBack = comesBack || v == nil && len(fields(c.fresh)) > 0 && c.ownedByUs() && !c.metadata
	}
	if comesBack {
		m.withoutChoices(n, out)
	}
	m.chosen = m.chosen || chosen && alternatives
	if len(out) == 0 && len(live) > 0 && n.desired == nil && !n.isOthers {
		return nil
	}
	return out
}

// withoutChoices removes the unmanaged texts of a struct from which the merge removes a field that a fresh object has by default. The API
// server may set the two only together: the type of an update strategy, and the settings of that type. It also sets the other texts
// again, to the values that they have in the fresh object.
func (m *merger) withoutChoices(n node, out map[string]any) {
	for name, value := range out {
		c := n.child(fieldpath.PathElement{FieldName: &name})
		text, isText := value.(string)
		stays := m.Fixed.Has(c.at) || len(inField(n.ignored, name)) > 0
		if isText && !stays && c.isUnmanaged() && c.fresh == text && !m.plain(name, text, fields(n.desired)) {
			delete(out, name)
			m.Stale = true
		}
	}
}

func (m *merger) plain(name string, value any, beside map[string]any) bool {
	return m.Plain != nil && m.Plain(name, value, beside)
}

// inField returns the ignored paths that lead into a field.
func inField(ignored []paths.Path, name string) []paths.Path {
	return inside(ignored, func(s paths.Step) bool { return s.Name == name })
}

// inside returns the rest of each path whose first step leads into a part.
func inside(ignored []paths.Path, leads func(paths.Step) bool) []paths.Path {
	var in []paths.Path
	for _, p := range ignored {
		if len(p) > 0 && leads(p[0]) {
			in = append(in, p[1:])
		}
	}
	return in
}

// isNew reports whether a desired field is new, that is, not applied by the builder before.
func (n node) isNew() bool { return n.desired != nil && !n.ownedByUs() }

// isAnotherText reports whether a field gets another text: a text may choose among alternatives.
func (n node) isAnotherText() bool {
	text, isText := n.desired.(string)
	return isText && n.live != nil && n.live != text
}

func (n node) isUnmanaged() bool {
	return n.live != nil && n.desired == nil && !n.ownedByUs() && !n.ownedByOthers()
}

func copied(v any) any { return runtime.DeepCopyJSONValue(v) }
