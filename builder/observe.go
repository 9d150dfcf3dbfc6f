package builder

import (
	"context"
	"maps"
	"reflect"

	"github.com/armature-dev/armature/builder/internal/plancheck"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/builder/internal/view"
)

// observe reads the owner's children into the pass. It returns the view of the plan: the children, the objects of the watch sources,
// and the external state.
func (r *reconciler[T]) observe(ctx context.Context, p *pass, owner T) (View, error) {
	if err := p.observed.Observe(ctx, r.owned.Load().kinds...); err != nil {
		return View{}, err
	}
	if r.byName != nil {
		again, err := r.byName.Observe(ctx, &p.observed)
		if err != nil {
			return View{}, err
		}
		p.result.RequeueAfter = sooner(p.result.RequeueAfter, again)
	}
	for _, k := range r.crossNamespace {
		if err := p.observed.ObserveCrossNamespace(ctx, k); err != nil {
			return View{}, err
		}
	}
	v := View{Now: r.now(), observed: view.Of(maps.Values(p.observed.ByKey))}
	asked := &plancheck.Asked{Declared: r.owned.Load().declared}
	v.observed.Asked = asked
	for _, w := range r.watches {
		objs, err := w.Observe(ctx, owner, p.observed.ByKey)
		if err != nil {
			return View{}, err
		}
		v.observed.Add(w.from, reflect.TypeOf(w.like), objs)
	}
	if r.external == nil || owner.GetDeletionTimestamp() != nil {
		return v, nil
	}
	state, err := r.observeExternal(ctx, owner, v)
	v.observed.External = state
	asked.Declared = r.owned.Load().declared // External may have called OwnsLater
	return v, err
}

// cached returns a reader of the cache, if the engine's client has a cache.
func (e *Engine) cached() sources.Reader { return sources.Reader{From: e.client, Kinds: e.kinds} }
