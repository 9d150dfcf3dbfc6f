package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// SeenByAll watches objects that the plans of all owners read: the nodes. [Watched] returns all objects of the kind, in the
// whole cluster or as far as the manager's cache reaches. An event enqueues all owners. Narrow that by [EnqueueFor] where
// events are many: a node's status changes every few minutes. The objects that exist when the program starts enqueue no one.
func SeenByAll() WatchOption {
	return watchOption(func(w *watchConfig) {
		w.sources = append(w.sources, func() source { return &seenByAll{w.engine, w.owner, w.kind, w.concerns} })
	})
}

// seenByAll is the source of SeenByAll.
type seenByAll struct {
	engine      *Engine
	owner, kind kinds.Kind
	concerns    concerns
}

func (s *seenByAll) index(context.Context, client.FieldIndexer) error { return nil }

func (s *seenByAll) handler() handler.EventHandler {
	return s.concerns.handler(enqueueAll(mapped(s.kind, func(ctx context.Context, _ client.Object) ([]reconcile.Request, error) {
		return s.engine.listOwners(ctx, s.owner, client.DisableReadYourWritesConsistency)
	})))
}

func (s *seenByAll) observe(ctx context.Context, _ *pass) ([]client.Object, error) {
	return s.engine.listObjects(ctx, s.kind, nil)
}
