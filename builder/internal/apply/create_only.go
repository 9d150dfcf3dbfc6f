package apply

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// compareCreateOnly decides which action an existing object needs: none, unless it has lost its label.
func (c *Cluster) compareCreateOnly(w *Write) *Write {
	w.Action = None
	if w.Desired.lacksMark(w.Observed) {
		w.Action = Apply
		c.holdContested(w)
	}
	return w
}

// lacksMark reports whether an object has lost the label by which caches may be filtered.
func (d *Desired) lacksMark(observed client.Object) bool {
	if observed.GetLabels()[wellknown.LabelManagedBy] == wellknown.ManagedBy {
		return false
	}
	own, set := d.Child.Object.GetLabels()[wellknown.LabelManagedBy]
	return !set || own == wellknown.ManagedBy
}

// takeAsItIs gives an object the builder's label. If the object has no controller, it also sets the owner as its controller, only in
// the observed version.
func (w *Write) takeAsItIs(ctx context.Context, c *Cluster) error {
	d := w.Desired
	changed, operation, did := map[string]any{"uid": w.Observed.GetUID()}, "apply", events.ReasonUpdated
	if d.lacksMark(w.Observed) {
		changed["labels"] = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}
	}
	if w.adopts {
		operation, did = "adopt", events.ReasonAdopted
		changed["resourceVersion"] = w.Observed.GetResourceVersion()
		refs := slices.DeleteFunc(slices.Clone(w.Observed.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
			return r.UID == c.Owner.GetUID()
		})
		changed["ownerReferences"] = append(refs, inventory.ControllerReference(c.Owner, c.OwnerKind))
	}
	body, err := json.Marshal(map[string]any{"metadata": changed})
	if err != nil {
		return err
	}
	obj, err := c.Kinds.Named(d.Kind, d.Key)
	if err != nil {
		return err
	}
	err = c.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, body), client.FieldOwner(c.Name))
	switch {
	case apierrors.IsNotFound(err):
		w.Action = Wait // the next pass makes it
		return nil
	case err != nil:
		return &failure.Error{Key: d.Key, Operation: operation, Err: err, Object: w.Observed}
	case c.DryRun:
		return w.recordDryRun(ctx, c, obj)
	}
	w.Operation, w.Stored = did, obj
	return nil
}
