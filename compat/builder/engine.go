package builder

import (
	"reflect"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

// FieldOwner is the field owner of what this package applies: that of an Engine without a name. An operator that moves
// on to Armature's builder keeps it, so that it can remove the fields that were applied here.
const FieldOwner = wellknown.FieldOwner

// maxEngines bounds the Engines that are kept. An operator has one client; one that makes a client in each pass loses
// the memo of what needs no writing, and nothing else.
const maxEngines = 8

// engines has one Engine a client, as the API of this package has no place for one.
var engines = newEngineCache()

type engineCache struct {
	mu    sync.Mutex
	known *lru.Cache[client.Client, *builder.Engine]
}

func newEngineCache() *engineCache {
	known, _ := lru.New[client.Client, *builder.Engine](maxEngines) // fails only for a size below 1
	return &engineCache{known: known}
}

func (e *engineCache) of(c client.Client) *builder.Engine {
	if !reflect.ValueOf(c).Comparable() {
		return newEngine(c)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.known.Get(c); ok {
		return known
	}
	engine := newEngine(c)
	e.known.Add(c, engine)
	return engine
}

// newEngine returns an Engine without a recorder: events are written by the recorder of each Builder.
func newEngine(c client.Client) *builder.Engine {
	return builder.NewEngine(claiming{c}, builder.Options{Name: FieldOwner})
}
