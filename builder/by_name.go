package builder

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
)

// ownByName returns the reader of the kinds whose children are read by name. It makes the engine's client read these kinds from the
// API server.
func (e *Engine) ownByName(named []sources.NamedKind) *sources.ByName {
	live := sources.Reader{From: e.live, Kinds: e.kinds}
	if with, ok := e.client.(telemetry.Client); ok {
		with.Client = sources.Uncached(with.Client, live, named...)
		e.client = with
	}
	return sources.NewByName(live, e.now, named...)
}

// learnByName drops the children that are read by name and that the pass may have changed. If a plan must read them again, another pass
// follows.
func (r *reconciler[T]) learnByName(p *pass, err error) {
	wrote := func(gk schema.GroupKind) bool {
		return slices.ContainsFunc(p.result.Changes, func(c Change) bool { return c.Key.GroupKind() == gk })
	}
	if r.byName.Learn(p.owner, wrote, err != nil) {
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, conflictDelay)
	}
}
