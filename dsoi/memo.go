package dsoi

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"
)

// maxRemembered bounds how many clusters are remembered. A forgotten one is rendered again.
const maxRemembered = 1024

// memo remembers what was rendered of clusters whose spec has not changed.
type memo struct {
	once     sync.Once
	clusters *lru.Cache[types.UID, remembered]
}

type remembered struct {
	generation int64
	*rendered
}

// remembered renders a cluster, or returns what was rendered of this very generation of it. What has no generation, in
// a test, is rendered each time.
func (a *App[C]) remembered(cluster C) *rendered {
	a.memo.once.Do(func() { a.memo.clusters, _ = lru.New[types.UID, remembered](maxRemembered) }) // fails only for a size below 1
	uid, generation := cluster.GetUID(), cluster.GetGeneration()
	if known, ok := a.memo.clusters.Get(uid); ok && generation > 0 && known.generation == generation {
		return known.rendered
	}
	r := a.render(cluster)
	if uid != types.UID("") {
		a.memo.clusters.Add(uid, remembered{generation, r})
	}
	return r
}
