package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
)

// showFields makes a dry run show the fields of a new object.
func (d *Desired) showFields() (err error) {
	if d.fields != nil {
		return nil
	}
	if d.fields, err = payload.Of(d.object, d.Kind.GVK); err != nil {
		return fmt.Errorf("%w: %w", failure.ErrMisuse, err)
	}
	return nil
}

// recordDryRun records the object that an apply would have stored. The resource version doesn't show a difference, because a dry run
// makes none.
func (w *Write) recordDryRun(ctx context.Context, c *Cluster, applied client.Object) error {
	takesOver := !w.Desired.Child.CreateOnly && w.takesOver(c) // a CreateOnly child is taken as it is
	if takesOver && slices.ContainsFunc(w.Observed.GetManagedFields(), c.fieldManager(w.Desired).TakesOver) && !w.refitted {
		var err error
		if applied, err = c.withoutLeftovers(ctx, w, applied); err != nil {
			return w.failed("apply", err)
		}
	}
	before, err := payload.Stored(w.Observed)
	if err != nil {
		return err
	}
	after, err := payload.Stored(applied)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(before, after) {
		w.Action = None
		return nil
	}
	w.Operation, w.Stored = events.ReasonUpdated, applied
	return nil
}

// withoutLeftovers removes from a dry-run apply the fields that the object was created with and that are no longer desired. In a real
// pass takeOverFields removes them before the apply, but its dry run has no effect on the next request. So this function removes the
// fields from the result and sends that to the API server, which may have defaults for them.
func (c *Cluster) withoutLeftovers(ctx context.Context, w *Write, applied client.Object) (client.Object, error) {
	leftovers, kept, err := c.fieldManager(w.Desired).Leftovers(applied.GetManagedFields(), controllerOf(applied))
	if err != nil {
		return nil, err
	}
	if leftovers.Empty() {
		return applied, nil
	}
	before, err := payload.Stored(w.Observed)
	if err != nil {
		return nil, err
	}
	after, err := payload.Stored(applied)
	if err != nil {
		return nil, err
	}
	paths.RemoveSet(after, leftovers, kept)
	patch, err := json.Marshal(delta.MergePatch(before, after))
	if err != nil {
		return nil, err
	}
	obj, err := c.Kinds.Named(w.Desired.Kind, w.Desired.Key)
	if err != nil {
		return nil, err
	}
	return obj, c.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(c.Name))
}
