package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/mergepatch"
)

// PatchStatus writes the status of after, a changed copy of before, and makes no request if they are the same. Only
// what differs is sent. Both stay as they are. The write is refused with a conflict if someone changed the object since
// before was read; the next pass will see that.
func (e *Engine) PatchStatus(ctx context.Context, before, after client.Object) error {
	same, err := sameStatus(before, after)
	if err != nil || same {
		return err
	}
	_, err = e.patchStatus(ctx, before, after)
	return err
}

// sameStatus reports whether two objects of one kind have the same status.
func sameStatus(a, b client.Object) (bool, error) {
	if isNil(a) || isNil(b) || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false, fmt.Errorf("%w: status of %T patched with one of %T", ErrMisuse, a, b)
	}
	one, errOne := statusOf(a)
	other, errOther := statusOf(b)
	if err := errors.Join(errOne, errOther); err != nil {
		return false, err
	}
	return equality.Semantic.DeepEqual(one, other), nil
}

// patchStatus writes a status that isn't the same. It returns the object as the server stored it, nil if there was
// nothing to write.
func (e *Engine) patchStatus(ctx context.Context, before, after client.Object) (client.Object, error) {
	k, err := e.kinds.of(after)
	if err != nil {
		return nil, err
	}
	key := k.key(before)
	old, errOld := statusOf(before)
	wanted, errWanted := statusOf(after)
	if err := errors.Join(errOld, errWanted); err != nil {
		return nil, err
	}
	patch, err := statusPatch(e.inventoryOf(before).ResourceVersion, old, wanted)
	if err != nil {
		return nil, fmt.Errorf("%w: status of %s: %w", ErrMisuse, key, err)
	}
	if patch == nil {
		return nil, nil
	}
	obj, err := e.kinds.empty(k)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	if err := e.client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(e.name)); err != nil {
		return nil, &Error{Key: key, Operation: "write status of", Err: err, object: before}
	}
	return obj, nil
}

// statusPatch returns the merge patch between two statuses, nil if they are the same in JSON.
func statusPatch(resourceVersion string, old, wanted any) ([]byte, error) {
	before, errBefore := statusFields(old)
	after, errAfter := statusFields(wanted)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return nil, err
	}
	patch := mergepatch.Between(before, after)
	if len(patch) == 0 {
		return nil, nil
	}
	patch["metadata"] = map[string]any{"resourceVersion": resourceVersion}
	return json.Marshal(patch)
}

// statusFields returns an object with nothing but a status, as decoded from JSON.
func statusFields(status any) (map[string]any, error) {
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, utiljson.Unmarshal(text, &fields)
}

// statusOf returns an object's status.
func statusOf(obj client.Object) (any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent()["status"], nil
	}
	status := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !status.IsValid() {
		return nil, fmt.Errorf("%w: %T has no field Status", ErrMisuse, obj)
	}
	return status.Interface(), nil
}

// explainNotFound says why a status could not be written: nil if the owner is gone, so that no one needs its status,
// else an error, for its kind has no status to write to. The API server answers both in the same words.
func (e *Engine) explainNotFound(ctx context.Context, owner client.Object) error {
	k, err := e.kinds.of(owner)
	if err != nil {
		return err
	}
	found, err := e.read(ctx, e.live, k, k.key(owner))
	if err != nil || found == nil || found.GetUID() != owner.GetUID() {
		return err
	}
	return fmt.Errorf("%w: %s has no status subresource; the CRD must enable it", ErrMisuse, k.gvk.GroupKind())
}
