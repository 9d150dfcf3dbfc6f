package builder

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// waits counts what owners wait for, for the gauge. It holds no more than the owners that wait for something.
type waits struct {
	gauge prometheus.Gauge

	mu     sync.Mutex
	counts map[store.Key]map[string]int // owner -> scope of a pass -> objects
}

func newWaits(gauge prometheus.Gauge) *waits {
	return &waits{gauge: gauge, counts: map[store.Key]map[string]int{}}
}

// set notes what an owner waits for as of its last pass of a scope.
func (w *waits) set(owner store.Key, scope string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	scopes := w.counts[owner]
	was := scopes[scope]
	switch {
	case was == n:
		return
	case n == 0:
		delete(scopes, scope)
		if len(scopes) == 0 {
			delete(w.counts, owner)
		}
	default:
		if scopes == nil {
			scopes = map[string]int{}
			w.counts[owner] = scopes
		}
		scopes[scope] = n
	}
	w.gauge.Add(float64(n - was))
}

// countWaiting notes what a pass waits for.
func (p *pass) countWaiting(scope string, res Result) {
	if !p.engine.dry {
		p.engine.waiting.set(p.ownerKey, scope, len(res.Waiting))
		if scope != scopePrune { // its children are another scope's, too
			p.engine.contested.set(p.ownerKey, scope, len(res.Contested))
		}
	}
}

// forget drops an owner.
func (w *waits) forget(owner store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.counts[owner] {
		w.gauge.Sub(float64(n))
	}
	delete(w.counts, owner)
}

// Forget drops what the engine remembers of an owner that is gone: like is any object of its kind. An [Operator] does
// so by itself; with a reconciler of one's own, call it when the owner isn't found. What is remembered is little: how
// many objects the owner waits for, so that the metric armature_builder_objects_waiting doesn't count them forever.
func (e *Engine) Forget(like client.Object, owner types.NamespacedName) {
	if k, err := e.kinds.of(like); err == nil {
		e.waiting.forget(store.KeyOf(k.gvk, owner.Namespace, owner.Name))
		e.contested.forget(store.KeyOf(k.gvk, owner.Namespace, owner.Name))
	}
}
