package memory

import "k8s.io/apimachinery/pkg/types"

// Versions has the version and the desired object of a limited number of children.
type Versions struct{ of *Recent[types.UID, Version] }

// Version is a version of a child and the hash of a desired object.
type Version struct {
	ResourceVersion string
	Hash            uint64
}

// Add records a version of a child.
func (v *Versions) Add(uid types.UID, entry Version) { v.of.Add(uid, entry) }

// Has reports whether the child's last recorded version is this one.
func (v *Versions) Has(uid types.UID, entry Version) bool {
	known, ok := v.of.Get(uid)
	return ok && known == entry
}

// Knows reports whether the child's last recorded desired object has the hash, at any version.
func (v *Versions) Knows(uid types.UID, hash uint64) bool {
	known, ok := v.of.Peek(uid)
	return ok && known.Hash == hash
}
