package dsoi

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxRemembered limits the number of remembered clusters. A forgotten cluster is rendered again in its next pass.
	maxRemembered = 1024
	// maxRememberedSize limits the size of all remembered clusters together, in bytes, as [sizes] counts it.
	maxRememberedSize = 128 << 20
)

// memo remembers what was rendered of clusters whose spec has not changed. Its zero value is empty.
type memo struct {
	mu       sync.Mutex
	clusters *simplelru.LRU[types.UID, remembered]
	size     int // of all
}

type remembered struct {
	generation int64
	*rendered
}

// get returns what was rendered of a generation of a cluster; nil if that isn't remembered.
func (m *memo) get(uid types.UID, generation int64) *rendered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters == nil {
		return nil
	}
	if known, ok := m.clusters.Get(uid); ok && known.generation == generation {
		return known.rendered
	}
	return nil
}

// put remembers what was rendered of a cluster, and forgets the clusters that are least recently used as far as it must.
func (m *memo) put(uid types.UID, generation int64, r *rendered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters == nil { // NewLRU fails only for a size below 1
		m.clusters, _ = simplelru.NewLRU(maxRemembered, func(_ types.UID, old remembered) { m.size -= old.size })
	}
	m.clusters.Remove(uid)
	m.clusters.Add(uid, remembered{generation, r})
	for m.size += r.size; m.size > maxRememberedSize; {
		m.clusters.RemoveOldest()
	}
}

// remembered renders a cluster, or returns what was rendered of this very generation of it. A cluster without a generation or a UID, in a
// test, is rendered each time.
func (a *App[C]) remembered(cluster C) *rendered {
	uid, generation := cluster.GetUID(), cluster.GetGeneration()
	if uid == "" || generation == 0 {
		return a.render(cluster)
	}
	if known := a.memo.get(uid, generation); known != nil { //purity:ignore a cluster is rendered by its generation; the memo only saves time
		return known
	}
	r := a.render(cluster)
	a.memo.put(uid, generation, r) //purity:ignore as above
	return r
}
