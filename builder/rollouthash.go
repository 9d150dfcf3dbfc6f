package builder

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
	hash := revisionHash(e.name+" "+string(uid), ds)
	if known {
		e.memory.revisions.Add(uid, revisionMemo{look, hash})
	}
	return hash, nil
}

// revisionMemo is the hash of the desired phases of an owner, and the hash of what it was computed from.
type revisionMemo struct {
	look uint64
	hash string
}
