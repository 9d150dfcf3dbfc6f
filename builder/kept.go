package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptAs is what an object was desired to be when the API server refused to change it.
type keptAs struct {
	hash   uint64
	digest string
}

// rememberImmutable notes that an object can't be changed into the desired one and stays as it is, so that no further request is made.
func (e *Engine) rememberImmutable(found client.Object, d *desired) {
	e.memory.immutable.Add(found.GetUID(), keptAs{d.hash, d.digest})
}

// keeps reports whether an object is known to be left as it is, since just this is desired.
func (p *pass) keeps(d *desired, found client.Object) (bool, error) {
	if !d.keepsImmutable() {
		return false, nil
	}
	as, ok := p.engine.memory.immutable.Get(found.GetUID())
	if !ok {
		return false, nil
	}
	if d.hashed && as.hash == d.hash {
		return true, nil
	}
	err := d.stamp(p)
	return err == nil && as.digest == d.digest, err
}
