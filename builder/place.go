package builder

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// keyOf names a child, which must have a name and live where its owner lives: garbage collection and the owner
// reference know no other place.
func (p *pass) keyOf(obj client.Object) (kind, store.Key, error) {
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
