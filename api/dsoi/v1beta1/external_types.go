package v1beta1

import (
	"encoding/json"
	"slices"
)

// Externals are the external dependencies of a cluster, by name.
type Externals map[string]External

// External describes one external dependency of a cluster.
type External struct {
	// Spec is an object with any fields, as JSON.
	Spec json.RawMessage `json:"spec"`

	// Malformed is set if it couldn't be decoded.
	Malformed *Malformed `json:"-"`
}

// Decode decodes the spec into an object of the application, strictly: an unknown field is an error.
func (e External) Decode(into any) error { return decodeStrictly(e.Spec, into) }

// UnmarshalJSON decodes a map from name to spec. It never fails; see [Malformed].
func (e *Externals) UnmarshalJSON(data []byte) error {
	*e = nil
	switch kindOf(data) {
	case jsonNull:
		return nil
	case jsonMap:
	default:
		e.refuse(malformed("is %s; want a map from name to spec", kindOf(data)), data)
		return nil
	}
	all := mapOf(data)
	if bad := tooMany(len(all), "names"); bad != nil {
		e.refuse(bad, data)
		return nil
	}
	*e = make(Externals, len(all))
	var field keeper
	for _, name := range sortedKeys(all) {
		one := readExternal(all[name])
		field.keep(one.Malformed, data)
		(*e)[name] = one
	}
	return nil
}

// MarshalJSON encodes a map, or malformed JSON unchanged.
func (e Externals) MarshalJSON() ([]byte, error) {
	all := make(map[string]any, len(e))
	var lost *Malformed
	for name, one := range e {
		switch bad := one.Malformed; {
		case bad == nil:
		case bad.Field != nil:
			return bad.Field, nil
		default:
			lost = bad
		}
		all[name] = map[string]json.RawMessage{"spec": one.Spec}
	}
	if lost != nil {
		return nil, lost.errLost()
	}
	return json.Marshal(all)
}

// refuse makes a field one that is malformed as a whole.
func (e *Externals) refuse(bad *Malformed, field []byte) {
	bad.Field = slices.Clone(field)
	*e = Externals{"": {Malformed: bad}}
}

// readExternal reads {"spec": {...}}, or the spec itself.
func readExternal(raw json.RawMessage) External {
	if kindOf(raw) != jsonMap {
		return External{Malformed: malformed("is %s; want an object", kindOf(raw))}
	}
	fields := mapOf(raw)
	spec, ok := fields["spec"]
	switch {
	case !ok:
		return External{Spec: raw}
	case len(fields) > 1:
		delete(fields, "spec")
		return External{Malformed: malformed("has %s beside spec; want all fields in spec, or no spec", quote(sortedKeys(fields)[0]))}
	case kindOf(spec) != jsonMap:
		return External{Malformed: malformed("spec is %s; want an object", kindOf(spec))}
	default:
		return External{Spec: spec}
	}
}
