package v1beta1

import "encoding/json"

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
		bad := malformed("is %s; want a map from name to spec", kindOf(data))
		bad.keep(data)
		*e = Externals{"": {Malformed: bad}}
		return nil
	}
	all := mapOf(data)
	*e = make(Externals, len(all))
	for name, raw := range all {
		one := readExternal(raw)
		one.Malformed.keep(data)
		(*e)[name] = one
	}
	return nil
}

// MarshalJSON encodes a map, or malformed JSON unchanged.
func (e Externals) MarshalJSON() ([]byte, error) {
	all := make(map[string]any, len(e))
	for name, one := range e {
		if one.Malformed != nil {
			return one.Malformed.Field, nil
		}
		all[name] = map[string]json.RawMessage{"spec": one.Spec}
	}
	return json.Marshal(all)
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
