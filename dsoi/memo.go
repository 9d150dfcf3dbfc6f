package dsoi

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// maxRemembered bounds how many clusters are remembered. One that has fallen out is rendered anew.
const maxRemembered = 1024

// memo remembers what was rendered of clusters whose spec has not changed.
type memo struct {
	once     sync.Once
	clusters *lru.Cache // types.UID -> remembered
}

type remembered struct {
	generation int64
	*rendered
}

// remembered renders a cluster, or returns what was rendered of this very generation of it. What has no generation, in
// a test, is rendered each time.
func (a *App[C]) remembered(cluster C) *rendered {
	a.memo.once.Do(func() { a.memo.clusters = lru.New(maxRemembered) })
	uid, generation := cluster.GetUID(), cluster.GetGeneration()
	if known, ok := a.memo.clusters.Get(uid); ok && generation > 0 && known.(remembered).generation == generation {
		return known.(remembered).rendered
	}
	r := a.render(cluster)
	if uid != types.UID("") {
		a.memo.clusters.Add(uid, remembered{generation, r})
	}
	return r
}
