package builder

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// claim prepares an object for being applied otherwise than it was written last, by mending the record of who owns its
// fields. Nothing else of the object changes. Drift is repaired without it: then nothing is to be removed.
//
// An object that was created, not applied, has its fields recorded as written by an update; an apply would own them a
// second time, and so could never remove one of them. This turns the record into one of an apply, once in an object's
// life, as client-go's csaupgrade does. The fields of former managers become ours as well. And what is ignored from now
// on is struck off: an apply without it would remove it otherwise.
func (w *write) claim(ctx context.Context, p *pass) error {
	e, found := p.engine, w.found
	after, changed, err := e.claimed(found, w.desired)
	if err != nil || !changed {
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
	w.refitted = true
	w.desired.neverWritten = false // what stays under the program's default name is another's from now on
	return nil
}

// claimed returns the record of an object's fields that lets the engine apply what is desired, and whether that is
// another one. The record given is shared with the cache and stays as it is.
func (e *Engine) claimed(found client.Object, d *desired) (after []metav1.ManagedFieldsEntry, changed bool, err error) {
	record := found.GetManagedFields()
	ours := e.ownEntry(record, d)
	if ours < 0 {
		return record, false, nil
	}
	claim := record[ours]
	claim.Manager, claim.Operation = e.name, metav1.ManagedFieldsOperationApply
	changed = claim.Operation != record[ours].Operation || claim.Manager != record[ours].Manager
	fields := &fieldpath.Set{}
	own := -1
	for i, entry := range record {
		if i != ours && !e.takesOver(entry, d) {
			after = append(after, entry)
			continue
		}
		taken, left, err := e.split(entry, found, d)
		if err != nil {
			return nil, false, err
		}
		switch {
		case i == ours:
			own, fields = len(after), fields.Union(taken)
			after = append(after, claim)
		case taken.Empty() && !left.Empty():
			after = append(after, entry)
			continue
		default:
			changed = true
			if entry.APIVersion == claim.APIVersion { // the paths of another version may mean nothing in this one
				fields = fields.Union(taken)
			}
		}
		if !left.Empty() {
			if entry.FieldsV1, err = fieldsV1(left, d); err != nil {
				return nil, false, err
			}
			after = append(after, entry)
		}
	}
	kept := paths.Without(fields, d.ignored) // they keep their values, and belong to no one or to whoever else set them
	if d.released != nil && !d.released.Empty() {
		kept = kept.Difference(d.released)
	}
	if !changed && kept == fields {
		return record, false, nil
	}
	if after[own].FieldsV1, err = fieldsV1(kept, d); err != nil {
		return nil, false, err
	}
	return after, true, nil
}

func fieldsV1(fields *fieldpath.Set, d *desired) (*metav1.FieldsV1, error) {
	raw, err := fields.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("write metadata.managedFields of %s: %w", d.key, err)
	}
	return metav1.NewFieldsV1(string(raw)), nil
}

// ownEntry returns the place of the entry that is, or becomes, the one of what the engine applies; -1 if there is none.
func (e *Engine) ownEntry(record []metav1.ManagedFieldsEntry, d *desired) int {
	first := -1
	for i, entry := range record {
		if entry.Manager == e.name && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return i
		}
		if first < 0 && e.takesOver(entry, d) {
			first = i
		}
	}
	return first
}

func fieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("read metadata.managedFields of %s: %w", entry.Manager, err)
	}
	return set, nil
}
