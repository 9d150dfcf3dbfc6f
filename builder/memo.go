package builder

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memo remembers, for a bounded number of children, what they were found to be as wanted. A child that it has
// forgotten is compared field by field once more; nothing is written for that.
//
// There are two generations: when the young one is full it becomes the old one, and what is asked for in the old one
// comes back. So what is in use stays, and a hit in the young one takes no more than a read lock.
type memo struct {
	size int // of a generation

	mu         sync.RWMutex
	young, old map[types.UID]memoEntry
}

// memoEntry says that a child at a resource version is as an object of that hash wants it.
type memoEntry struct {
	resourceVersion string
	hash            uint64
}

func newMemo(size int) *memo {
	return &memo{size: max(size/2, 1), young: map[types.UID]memoEntry{}}
}

func (m *memo) add(uid types.UID, entry memoEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.young[uid]; !ok && len(m.young) >= m.size {
		m.young, m.old = make(map[types.UID]memoEntry, m.size), m.young
	}
	m.young[uid] = entry
}

func (m *memo) has(uid types.UID, entry memoEntry) bool {
	m.mu.RLock()
	known, young := m.young[uid]
	ok := young
	if !young {
		known, ok = m.old[uid]
	}
	m.mu.RUnlock()
	if !ok || known != entry {
		return false
	}
	if !young {
		m.add(uid, entry)
	}
	return true
}

// remember notes that a child is as wanted. The server has said so: by its answer to a write, or by a comparison.
func (e *Engine) remember(child client.Object, d *desired) {
	if d.hashed && !e.dry {
		e.memory.upToDate.add(child.GetUID(), memoEntry{child.GetResourceVersion(), d.hash})
	}
}

// remembers reports whether this very version of a child is known to be as this very object wants it.
func (e *Engine) remembers(child client.Object, d *desired) bool {
	return d.hashed && e.memory.upToDate.has(child.GetUID(), memoEntry{child.GetResourceVersion(), d.hash})
}

// knows reports whether a child was last found to be as an object of that hash wants it, at whatever version.
func (m *memo) knows(uid types.UID, hash uint64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known, ok := m.young[uid]
	if !ok {
		known, ok = m.old[uid]
	}
	return ok && known.hash == hash
}
