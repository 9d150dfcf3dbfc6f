package builder

import (
	"bytes"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// claiming is a client that takes over the fields that the original library wrote, before it applies an object. Otherwise the fields
// would have two managers, and a field that is no longer desired (an environment variable) would stay forever. This costs one request,
// once for each object.
type claiming struct {
	client.Client
}

// Patch takes over the object's fields first, if the patch is an apply and no dry run.
func (c claiming) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	options := (&client.PatchOptions{}).ApplyOptions(opts)
	if patch.Type() == types.ApplyPatchType && len(options.DryRun) == 0 {
		if err := c.claim(ctx, obj); err != nil {
			return err
		}
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c claiming) claim(ctx context.Context, like client.Object) error {
	found := like.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(like), found); err != nil {
		return client.IgnoreNotFound(err)
	}
	writers := writersOfOriginal(found)
	if len(writers) == 0 {
		return nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(found, writers, FieldOwner)
	if err != nil || patch == nil {
		return err
	}
	// The patch has the resource version: if the object has changed, this is a conflict, and the pass is retried.
	return c.Client.Patch(ctx, found, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(FieldOwner))
}

// writersOfOriginal returns the field managers under which the original library wrote the object: those that wrote the annotation with
// its hash, <owner's kind>OperatorHash.
func writersOfOriginal(obj client.Object) sets.Set[string] {
	controller := metav1.GetControllerOfNoCopy(obj)
	if controller == nil {
		return nil
	}
	annotation := controller.Kind + "OperatorHash"
	if _, ok := obj.GetAnnotations()[annotation]; !ok {
		return nil
	}
	writers := sets.New[string]()
	for _, entry := range obj.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" && entry.FieldsV1 != nil &&
			bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(`"f:`+annotation+`"`)) {
			writers.Insert(entry.Manager)
		}
	}
	return writers
}
