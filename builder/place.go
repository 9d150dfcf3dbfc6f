package builder

import (
	"fmt"

	"github.com/armature-dev/armature/store"
)

// keyOf names a child, which must have a name. It must live where its owner lives, since garbage collection and the
// owner reference know no other place, unless it is [Elsewhere]. All keys of children come from here.
func (p *pass) keyOf(want Child) (kind, store.Key, error) {
	obj := want.object
	k, err := p.engine.kinds.of(obj)
	if err != nil {
		return k, store.Key{}, err
	}
	key := k.key(obj)
	if key.Name == "" {
		return k, key, fmt.Errorf("%w: metadata.name of a %s is empty; a child needs a fixed name (generateName would make a twin in each pass)",
			ErrMisuse, k.gvk.Kind)
	}
	namespaced, err := p.engine.kinds.isNamespaced(k, obj)
	if err != nil {
		return k, key, &Error{Key: key, Operation: "read", Err: err}
	}
	if want.elsewhere {
		key, err = keyElsewhere(key, namespaced)
		return k, key, err
	}
	home := p.owner.GetNamespace()
	switch {
	case !namespaced && home != "":
		return k, key, fmt.Errorf("%w: %s is cluster-scoped and its owner %s is not: garbage collection would never remove it; see Elsewhere",
			ErrMisuse, key, p.ownerKey)
	case !namespaced:
		key.Namespace = "" // of no meaning
	case key.Namespace == "" && home == "":
		return k, key, fmt.Errorf("%w: metadata.namespace of %s is empty and its owner has none", ErrMisuse, key)
	case key.Namespace == "":
		key.Namespace = home
	case home != "" && key.Namespace != home:
		return k, key, fmt.Errorf("%w: metadata.namespace of %s must be that of its owner, %s: an owner elsewhere counts as absent and the child would be collected; see Elsewhere",
			ErrMisuse, key, home)
	}
	return k, key, nil
}

// keyElsewhere completes the key of a child that says itself where it lives.
func keyElsewhere(key store.Key, namespaced bool) (store.Key, error) {
	if !namespaced {
		key.Namespace = "" // of no meaning
		return key, nil
	}
	if key.Namespace == "" {
		return key, fmt.Errorf("%w: metadata.namespace of %s is empty; a child elsewhere must say where", ErrMisuse, key)
	}
	return key, nil
}
