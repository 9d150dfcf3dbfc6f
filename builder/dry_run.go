package builder

import (
	"context"
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/mergepatch"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/events"
)

// dryRun returns an engine whose writes are dry runs: the API server admits, defaults and validates them, and stores
// nothing. It emits no events, counts nothing and remembers nothing.
func (e *Engine) dryRun() *Engine {
	dry := *e
	dry.dry = true
	dry.recorder = nil
	inner := e.client
	if counting, ok := inner.(telemetry.Client); ok {
		inner = counting.Client
	}
	dry.client = client.NewDryRunClient(unawaited{inner})
	return &dry
}

// unawaited is a client for whose writes later reads don't wait: no cache will ever show them.
type unawaited struct{ client.Client }

func (c unawaited) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.Client.Create(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c unawaited) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.Client.Patch(ctx, obj, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (c unawaited) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.Client.Delete(ctx, obj, append(opts, client.DisableReadYourWritesConsistency)...)
}

// recordDryRun records what an apply would have made of an object. The resource version doesn't say: a dry run makes none.
func (w *write) recordDryRun(ctx context.Context, p *pass, applied client.Object) error {
	if w.takesOver(p.engine) && p.engine.fieldManager(w.desired).TakesOverAny(w.observed.GetManagedFields()) && !w.refitted {
		var err error
		if applied, err = p.engine.withoutLeftovers(ctx, w, applied); err != nil {
			return &Error{Key: w.desired.key, Operation: "apply", Err: err, object: w.desired.object}
		}
	}
	before, err := payload.Stored(w.observed)
	if err != nil {
		return err
	}
	after, err := payload.Stored(applied)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(before, after) {
		w.action = actionNone
		return nil
	}
	w.operation, w.stored = events.ReasonUpdated, applied
	return nil
}

// withoutLeftovers removes from a dry-run apply the fields that the object was created with and that aren't desired
// any more. In earnest takeOverFields sees to that beforehand; a dry run of it leaves no trace. So the fields are taken
// out of the result, and the API server is asked what it makes of that: it may have defaults for them.
func (e *Engine) withoutLeftovers(ctx context.Context, w *write, applied client.Object) (client.Object, error) {
	leftovers, kept, err := e.fieldManager(w.desired).Leftovers(applied.GetManagedFields(), controllerOf(applied))
	if err != nil {
		return nil, err
	}
	if leftovers.Empty() {
		return applied, nil
	}
	before, err := payload.Stored(w.observed)
	if err != nil {
		return nil, err
	}
	after, err := payload.Stored(applied)
	if err != nil {
		return nil, err
	}
	delta.Remove(after, leftovers, kept)
	patch, err := json.Marshal(mergepatch.Between(before, after))
	if err != nil {
		return nil, err
	}
	obj, err := e.kinds.Empty(w.desired.kind)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(applied.GetNamespace())
	obj.SetName(applied.GetName())
	return obj, e.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(e.name))
}
