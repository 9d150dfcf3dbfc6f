package apply

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/internal/wellknown"
)

// fieldManager returns the engine's field manager, and the managers whose fields of a child it takes over.
func (c *Cluster) fieldManager(d *Desired) fieldmanager.Manager {
	m := fieldmanager.Manager{Name: c.Name, Former: d.Child.FormerManagers()}
	if d.neverWritten {
		m.Program = fieldmanager.Program()
	}
	return m
}

// hasWritten reports whether the engine, or an earlier version of the program under another name, has ever written an object.
func (c *Cluster) hasWritten(observed client.Object) bool {
	return observed.GetAnnotations()[wellknown.AnnotationDigest] != "" ||
		fieldmanager.Manager{Name: c.Name}.HasWritten(observed.GetManagedFields())
}

// controllerOf returns the UID of an object's controller, empty if it has none.
func controllerOf(obj client.Object) types.UID {
	if ref := metav1.GetControllerOfNoCopy(obj); ref != nil {
		return ref.UID
	}
	return ""
}

// fieldsTakenOver returns the managed fields with which an apply removes fields that aren't desired, and whether they differ from the
// present ones.
func (c *Cluster) fieldsTakenOver(observed client.Object, d *Desired) ([]metav1.ManagedFieldsEntry, bool, error) {
	released := fieldmanager.Released{Paths: d.ignored, Fields: d.released}
	return c.fieldManager(d).TakeOver(observed.GetManagedFields(), controllerOf(observed), released)
}

// takeOverFields writes only the managed fields of an object, before another desired state is applied. A repair of drift doesn't need
// it, because it removes nothing.
func (w *Write) takeOverFields(ctx context.Context, c *Cluster) error {
	observed := w.Observed
	after, changed, err := c.fieldsTakenOver(observed, w.Desired)
	if err != nil || !changed {
		return err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": after},
		// If the object has changed, this is a conflict, and the pass is retried.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": observed.GetResourceVersion()},
	})
	if err != nil {
		return err
	}
	obj := observed.DeepCopyObject().(client.Object) // the reply is decoded into it
	if err := c.Client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(c.Name)); err != nil {
		return err
	}
	w.Observed = obj
	w.refitted = true
	w.Desired.neverWritten = false // from now on, fields of the program's default manager name belong to another program
	return nil
}
