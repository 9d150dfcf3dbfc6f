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
	if last, ok := e.hashes.Get(uid); ok && known && last.(wantedHash).look == look {
		return last.(wantedHash).hash, nil
	}
	for _, d := range ds {
		if err := d.stamp(p); err != nil {
			return "", err
		}
	}
	hash := revisionHash(e.name+" "+string(uid), ds)
	if known {
		e.hashes.Add(uid, wantedHash{look, hash})
	}
	return hash, nil
}

// wantedHash is the hash of what an owner wants, and how that looked like.
type wantedHash struct {
	look uint64
	hash string
}
