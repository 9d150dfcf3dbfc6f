package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Versions has the version and the desired object of a limited number of children.
//
// It has two generations. When the young one is full it becomes the old one. An entry of the old one that is used moves to the young
// one. So used entries stay, and a hit in the young one takes only a read lock.
type Versions struct {
	size int // of a generation

	mu         sync.RWMutex
	young, old map[types.UID]Version
}

// Version is a version of a child and the hash of a desired object.
type Version struct {
	ResourceVersion string
	Hash            uint64
}

func newVersions(size int) *Versions {
	return &Versions{size: max(size/2, 1), young: map[types.UID]Version{}}
}

// Add records a version of a child.
func (v *Versions) Add(uid types.UID, entry Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.young[uid]; !ok && len(v.young) >= v.size {
		v.young, v.old = make(map[types.UID]Version, v.size), v.young
	}
	v.young[uid] = entry
}

// Has reports whether the child's last recorded version is this one.
func (v *Versions) Has(uid types.UID, entry Version) bool {
	v.mu.RLock()
	known, young := v.young[uid]
	ok := young
	if !young {
		known, ok = v.old[uid]
	}
	v.mu.RUnlock()
	if !ok || known != entry {
		return false
	}
	if !young {
		v.Add(uid, entry)
	}
	return true
}

// Knows reports whether the child's last recorded desired object has the hash, at any version.
func (v *Versions) Knows(uid types.UID, hash uint64) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	known, ok := v.young[uid]
	if !ok {
		known, ok = v.old[uid]
	}
	return ok && known.Hash == hash
}
