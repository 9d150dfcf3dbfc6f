package builder

import (
	"reflect"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

// FieldOwner is the field manager of this package's writes: that of an Engine without a name. An operator that moves on to Armature's
// builder keeps it, so that it can remove the fields that this package applied.
const FieldOwner = wellknown.FieldOwner

// maxEngines limits the cached Engines. An operator has one client. One that makes a client in each pass loses only the record of
// unchanged children.
const maxEngines = 8

// engines has one Engine for each client, because the API of this package has no place for one.
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

// newEngine returns an Engine without a recorder, because the recorder of each Builder writes its events.
func newEngine(c client.Client) *builder.Engine {
	return builder.NewEngine(claiming{c}, builder.Options{Name: FieldOwner})
}
