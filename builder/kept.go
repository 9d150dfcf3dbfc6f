package builder

import (
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kept remembers which objects can't be changed into what is wanted and are to be left as they are, so that no further
// request is made about them. It is in memory: the next process asks once more.
type kept struct {
	objects *lru.Cache // types.UID -> keptAs
}

// keptAs is what an object was wanted as when it was found that it can't be.
type keptAs struct {
	hash   uint64
	digest string
}

// maxKept bounds what is remembered. What falls out is asked for once more.
const maxKept = 1 << 14

func newKept() kept { return kept{objects: lru.New(maxKept)} }

func (k kept) add(found client.Object, d *desired) {
	k.objects.Add(found.GetUID(), keptAs{d.hash, d.digest})
}

// keeps reports whether an object is known to be left as it is, since just this is wanted.
func (p *pass) keeps(d *desired, found client.Object) (bool, error) {
	if d.immutablePolicy() != Keep {
		return false, nil
	}
	known, ok := p.engine.kept.objects.Get(found.GetUID())
	if !ok {
		return false, nil
	}
	as := known.(keptAs)
	if d.hashed && as.hash == d.hash {
		return true, nil
	}
	err := d.stamp(p)
	return err == nil && as.digest == d.digest, err
}
