package builder

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// claim prepares an object for being applied otherwise than it was written last, by mending the record of who owns its
// fields. Nothing else of the object changes. Drift is repaired without it: then nothing is to be removed.
//
// An object that was created, not applied, has its fields recorded as written by an update; an apply would own them a
// second time, and so could never remove one of them. This turns the record into one of an apply, once in an object's
// life. And what is ignored from now on is struck off: an apply without it would remove it otherwise.
func (w *write) claim(ctx context.Context, p *pass) error {
	e, found := p.engine, w.found
	if !e.wroteByUpdate(found) && len(w.desired.ignored) == 0 {
		return nil
	}
	after, err := e.claimed(found.GetManagedFields(), w.desired)
	if err != nil || equality.Semantic.DeepEqual(after, found.GetManagedFields()) {
		return err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": after},
		// Had the object changed, this would be a conflict, and tried again.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": found.GetResourceVersion()},
	})
	if err != nil {
		return err
	}
	obj := found.DeepCopyObject().(client.Object) // the reply is decoded into it
	if err := e.client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(e.name)); err != nil {
		return err
	}
	w.found = obj
	return nil
}

// claimed returns the record of an object's fields that lets the engine apply what is desired. It is given a shared
// one, which stays as it is.
func (e *Engine) claimed(shared []metav1.ManagedFieldsEntry, d *desired) ([]metav1.ManagedFieldsEntry, error) {
	obj := &metav1.PartialObjectMetadata{}
	for i := range shared {
		obj.ManagedFields = append(obj.ManagedFields, *shared[i].DeepCopy())
	}
	if err := csaupgrade.UpgradeManagedFields(obj, sets.New(e.name), e.name); err != nil {
		return nil, err
	}
	return obj.ManagedFields, e.release(obj.ManagedFields, d.ignored)
}

// release strikes ignored fields off what the engine has applied. They keep their values and belong to no one, or to
// whoever else has set them.
func (e *Engine) release(record []metav1.ManagedFieldsEntry, ignored []paths.Path) error {
	if len(ignored) == 0 {
		return nil
	}
	for i := range record {
		entry := &record[i]
		if entry.Manager != e.name || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return fmt.Errorf("read metadata.managedFields of %s: %w", entry.Manager, err)
		}
		kept := paths.Without(set, ignored)
		if kept == set {
			continue
		}
		fields, err := kept.ToJSON()
		if err != nil {
			return fmt.Errorf("write metadata.managedFields of %s: %w", entry.Manager, err)
		}
		entry.FieldsV1 = metav1.NewFieldsV1(string(fields))
	}
	return nil
}

func (e *Engine) wroteByUpdate(found client.Object) bool {
	for _, entry := range found.GetManagedFields() {
		if entry.Manager == e.name && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" {
			return true
		}
	}
	return false
}
