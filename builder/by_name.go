package builder

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/store"
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

// observeByName adds the children that are read by name to a pass.
func (r *reconciler[T]) observeByName(ctx context.Context, p *pass) error {
	again, err := r.byName.Observe(ctx, p.owner, func(key store.Key, child client.Object) { p.observed[key] = child })
	if err != nil {
		return err
	}
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, again)
	for _, k := range r.byName.Kinds() {
		p.listed[k.Kind] = true // no later step lists the kind
	}
	return nil
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
