package paths

import "fmt"

// Remove removes the named fields from an object as decoded from JSON, and the maps that become empty. An element of a list that has
// lost a field stays, with its other fields.
func (p Path) Remove(fields map[string]any) {
	if len(p) == 0 {
		return
	}
	remove(fields, p)
}

// remove returns the rest of a value, and false if nothing remains.
func remove(value any, p Path) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		step := p[0]
		inner, ok := v[step.Name]
		if !ok || step.Keys != nil {
			return v, true
		}
		if len(p) == 1 {
			delete(v, step.Name)
		} else if left, some := remove(inner, p[1:]); some {
			v[step.Name] = left
		} else {
			delete(v, step.Name)
		}
		return v, len(v) > 0
	case []any:
		if p[0].Keys == nil {
			return v, true
		}
		kept := v[:0]
		for _, element := range v {
			if !p[0].Chooses(element) {
				kept = append(kept, element)
				continue
			}
			if len(p) > 1 {
				element, _ = remove(element, p[1:])
				kept = append(kept, element)
			}
		}
		return kept, len(kept) > 0
	default:
		return v, true
	}
}

// Chooses reports whether an element of a list has all the keys. A port without a protocol is one of TCP, the API server's default and
// a part of the key.
func (s Step) Chooses(element any) bool {
	fields, ok := element.(map[string]any)
	if !ok || s.Keys == nil {
		return false
	}
	for key, want := range s.Keys {
		value, ok := fields[key]
		if !ok && key == "protocol" {
			value, ok = "TCP", true
		}
		if ok && fmt.Sprint(value) != want {
			return false
		} else if !ok && want != "" {
			return false
		}
	}
	return true
}
