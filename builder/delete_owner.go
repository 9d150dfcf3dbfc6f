package builder

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleteOwner deletes an owner, if it is still as it was seen, but for what we wrote onto it ourselves: written is what
// the server made of the last of these writes, nil if its status wasn't written.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	version := e.inventoryOf(owner).resourceVersion
	if written != nil {
		version = written.GetResourceVersion()
	}
	k, err := e.kinds.of(owner)
	if err != nil {
		return err
	}
	obj, err := e.kinds.empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(owner.GetNamespace())
	obj.SetName(owner.GetName())
	err = e.client.Delete(ctx, obj,
		client.Preconditions{UID: ptr.To(owner.GetUID()), ResourceVersion: &version},
		propagation(owner))
	if err != nil && !apierrors.IsNotFound(err) {
		err = &Error{Key: k.key(owner), Operation: "delete", Err: err, object: owner}
	} else {
		err = nil
	}
	e.tell(owner, "delete the owner", Result{}, err)
	return err
}
