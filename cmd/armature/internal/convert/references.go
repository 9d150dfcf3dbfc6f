package convert

// references are manifests that others name, by name and namespace.
type references[T any] map[string]map[string]T

func (r references[T]) add(namespace, name string, value T) {
	if r[name] == nil {
		r[name] = map[string]T{}
	}
	r[name][namespace] = value
}

// find returns what a manifest in a namespace names. A manifest without a namespace is in the one that it will be applied to, which may be
// that of the other.
func (r references[T]) find(namespace, name string) (value T, ok bool) {
	of := r[name]
	if value, ok = of[namespace]; ok {
		return value, true
	}
	if value, ok = of[""]; ok || namespace != "" || len(of) != 1 {
		return value, ok
	}
	for _, only := range of {
		value = only
	}
	return value, true
}
