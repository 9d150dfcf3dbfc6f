package sources

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/store"
)

type observedByAll struct{ Watch }

// ObservedByAll returns the source of objects that the plans of all owners read.
func ObservedByAll(w Watch) Source { return observedByAll{w} }

func (s observedByAll) Index(context.Context, client.FieldIndexer) error { return nil }

func (s observedByAll) Handler() handler.EventHandler {
	return s.Concerns.handler(enqueueAll(mapped(s.Kind, func(ctx context.Context, _ client.Object) ([]reconcile.Request, error) {
		return s.requests(ctx, s.Owner, client.DisableReadYourWritesConsistency)
	})))
}

func (s observedByAll) Observe(ctx context.Context, _ client.Object, _ map[store.Key]client.Object) ([]client.Object, error) {
	return s.List(ctx, s.Kind, nil)
}
