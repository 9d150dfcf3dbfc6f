package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hashOf returns the hash of what is wanted. To stamp and render every child for it costs much, so that it is
// remembered.
func (e *Engine) hashOf(p *pass, ds []*desired) (string, error) {
	look, known := uint64(len(ds)), true
	for _, d := range ds {
		look = (look ^ d.hash) * 0x9E3779B97F4A7C15
		known = known && d.hashed
	}
	uid := p.owner.GetUID()
	if last, ok := e.memory.revisions.Get(uid); ok && known && last.look == look {
		return last.hash, nil
	}
	for _, d := range ds {
		if err := d.stamp(p); err != nil {
			return "", err
		}
	}
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.line()
	}
	hash := revisionHash(e.revisionOwner(p.owner), lines)
	if known {
		e.memory.revisions.Add(uid, revisionMemo{look, hash})
	}
	return hash, nil
}

// revisionOwner says whose a revision is: two controllers can work for one owner.
func (e *Engine) revisionOwner(owner client.Object) string {
	return e.name + " " + string(owner.GetUID())
}

// revisionMemo is the hash of the desired phases of an owner, and the hash of what it was computed from.
type revisionMemo struct {
	look uint64
	hash string
}
