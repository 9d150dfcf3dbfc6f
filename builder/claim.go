package builder

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claimCreated prepares an object that was created, not applied, for being applied otherwise than it was created. Its
// fields are recorded as written by an update; an apply would own them a second time, and so could never remove one of
// them. This turns the record into one of an apply, once in an object's life. To repair drift it isn't needed: then
// nothing is to be removed.
func (e *Engine) claimCreated(ctx context.Context, found client.Object) error {
	if !e.wroteByUpdate(found) {
		return nil
	}
	obj := found.DeepCopyObject().(client.Object) // csaupgrade writes into the entries that it is given
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(obj, sets.New(e.name), e.name)
	if err != nil || patch == nil {
		return err
	}
	// The patch has the resource version in it: had the object changed, this would be a conflict, and tried again.
	return e.client.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(e.name))
}

func (e *Engine) wroteByUpdate(found client.Object) bool {
	for _, entry := range found.GetManagedFields() {
		if entry.Manager == e.name && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" {
			return true
		}
	}
	return false
}
