package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/store"
)

// Edit is a change of one object.
type Edit struct {
	Key  store.Key
	Kind kinds.Kind
	// Scales reports whether the change is one of the subresource scale.
	Scales bool

	observed client.Object
	patch    []byte // nil without a difference
	replicas int32  // of a scale
}

// New returns the edit from an object before to the one after, or to a number of replicas.
func New(k kinds.Kind, before, after client.Object, replicas *int32) (Edit, error) {
	e := Edit{Key: k.Key(before), Kind: k, observed: before, Scales: replicas != nil}
	wrong := func(format string, args ...any) (Edit, error) {
		return Edit{}, fmt.Errorf("%w: %s to be edited %s", failure.ErrMisuse, e.Key, fmt.Sprintf(format, args...))
	}
	if before.GetUID() == "" || before.GetResourceVersion() == "" {
		return wrong("has no UID or resource version; take it from the view")
	}
	if e.Scales {
		if !kinds.IsNil(after) {
			return wrong("has After and Replicas; give one of them")
		}
		var err error
		e.replicas = *replicas
		e.patch, err = scalePatch(before, *replicas)
		return e, err
	}
	switch {
	case kinds.IsNil(after) || reflect.TypeOf(after) != reflect.TypeOf(before):
		return wrong("is a %T after and a %T before", after, before)
	case k.Key(after) != e.Key || after.GetUID() != before.GetUID() || after.GetResourceVersion() != before.GetResourceVersion():
		return wrong("has another name, UID or resource version after than before; change a copy of it")
	}
	if _, err := status.Of(before); err == nil {
		if same, err := status.Same(before, after); err != nil || !same {
			return Edit{}, fmt.Errorf("%w: the status of %s can't be edited; it is that of its own controller", failure.ErrMisuse, e.Key)
		}
	}
	var err error
	if e.patch, err = patch(before, after); err != nil {
		return Edit{}, fmt.Errorf("%w: edit of %s: %w", failure.ErrMisuse, e.Key, err)
	}
	return e, nil
}

// Differs reports whether the edit changes anything.
func (e *Edit) Differs() bool { return e.patch != nil }

func scalePatch(before client.Object, replicas int32) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": before.GetResourceVersion()},
		"spec":     map[string]any{"replicas": replicas},
	})
}

// patch returns the merge patch of an edit, nil if nothing differs in JSON.
func patch(before, after client.Object) ([]byte, error) {
	if reflect.DeepEqual(before, after) { // most edits: a fraction of the cost of their JSON
		return nil, nil
	}
	was, err := payload.Stored(before)
	if err != nil {
		return nil, err
	}
	is, err := payload.Stored(after)
	if err != nil {
		return nil, err
	}
	patch := delta.MergePatch(was, is)
	if len(patch) == 0 {
		return nil, nil
	}
	meta, ok := patch["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["uid"], meta["resourceVersion"] = before.GetUID(), before.GetResourceVersion()
	return json.Marshal(patch)
}

// ReplicasChange returns spec.replicas before and after a scale. It is nil before if the object's replicas are another field.
func (e *Edit) ReplicasChange() (before, after any) {
	if fields, err := payload.Stored(e.observed); err == nil {
		if n, ok, _ := unstructured.NestedInt64(fields, "spec", "replicas"); ok {
			before = n
		}
	}
	return before, int64(e.replicas)
}

// SendAll sends edits as a field manager, in parallel up to a limit. It returns the objects as the API server stored them, which are valid
// beside an error: nil for one that doesn't exist any more or that wasn't sent.
func SendAll(
	ctx context.Context, c client.Client, known *kinds.Registry, manager string, limit int, edits []Edit,
) ([]client.Object, error) {
	stored := make([]client.Object, len(edits))
	var failing batch.Kinds
	err := batch.Each(len(edits), limit, func(i int) error {
		return failing.Try(edits[i].Key, func() (err error) {
			stored[i], err = edits[i].send(ctx, c, known, manager)
			return err
		})
	})
	return stored, err
}

// send sends the edit. It returns the object as the API server stored it, nil if the object doesn't exist any more.
func (e *Edit) send(ctx context.Context, c client.Client, known *kinds.Registry, manager string) (client.Object, error) {
	obj, err := known.Named(e.Kind, e.Key)
	if err != nil {
		return nil, err
	}
	operation, patch := "edit", client.RawPatch(types.MergePatchType, e.patch)
	if e.Scales {
		operation = "scale"
		err = c.SubResource("scale").Patch(ctx, obj, patch, &client.SubResourcePatchOptions{
			PatchOptions: client.PatchOptions{
				FieldManager: manager,
				// The API server answers with a Scale. A consistent client would find no resource version in the object and fail after the
				// write. If the next pass doesn't observe the write yet, it gets a conflict.
				DisableReadYourWritesConsistency: true,
			},
			SubResourceBody: &autoscalingv1.Scale{},
		})
	} else {
		err = c.Patch(ctx, obj, patch, client.FieldOwner(manager))
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &failure.Error{Key: e.Key, Operation: operation, Err: err, Object: e.observed}
	}
	return obj, nil
}
