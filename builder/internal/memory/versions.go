package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Versions has, for a bounded number of children, the version and the desired object of which something is known.
//
// There are two generations: when the young one is full it becomes the old one, and what is asked for in the old one
// comes back. So what is in use stays, and a hit in the young one takes no more than a read lock.
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

// Add notes a version of a child.
func (v *Versions) Add(uid types.UID, entry Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.young[uid]; !ok && len(v.young) >= v.size {
		v.young, v.old = make(map[types.UID]Version, v.size), v.young
	}
	v.young[uid] = entry
}

// Has reports whether this very version of a child was noted last.
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

// Knows reports whether a child was noted last with the desired object of that hash, at whatever version.
func (v *Versions) Knows(uid types.UID, hash uint64) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	known, ok := v.young[uid]
	if !ok {
		known, ok = v.old[uid]
	}
	return ok && known.Hash == hash
}
