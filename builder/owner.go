package builder

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleteOwner deletes an owner in its observed version, or in the version that the pass itself has written. written is the server's
// result of the pass's last status write, nil if the pass didn't write the status.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	present := owner.DeepCopyObject().(client.Object)
	present.SetResourceVersion(e.inventoryOf(owner).ResourceVersion)
	if written != nil {
		present.SetResourceVersion(written.GetResourceVersion())
	}
	_, err = e.delete(ctx, k.Key(owner), present)
	e.emitResult(owner, "delete the owner", Result{}, err)
	return err
}
