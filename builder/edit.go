package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/mergepatch"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Edit changes an existing child, such as a Job's spec.suspend or a StatefulSet's replicas:
//
//	after := job.DeepCopy()
//	after.Spec.Suspend = ptr.To(true)
//	plan.Edits = append(plan.Edits, builder.Edit{Before: job, After: after})
//	plan.Edits = append(plan.Edits, builder.Edit{Before: set, Replicas: ptr.To[int32](3)})
//
// The builder sends the difference as one merge patch (lists as a whole) with the observed resource version. If the object has changed
// since, the patch fails with a conflict, and the next pass observes the change. If the object is deleted, the builder does nothing.
// Without a difference it makes no request. Don't edit a field that Children apply: the next pass would restore it.
type Edit struct {
	// Before is a child from the view. An object that the owner doesn't control is [ErrNotOwned], unless [Edit].Foreign is set.
	Before client.Object
	// After is a changed copy of Before. A difference in its status or its identity (name, namespace, UID, version) is [ErrMisuse].
	After client.Object
	// Replicas sets the number of replicas through the subresource scale, instead of After. The kind is Deployment, StatefulSet, or a
	// custom resource with that subresource. As with a HorizontalPodAutoscaler, other managers of the object keep managing it.
	Replicas *int32
	// Foreign allows an object that isn't a child, such as a PersistentVolumeClaim that a child's StatefulSet made, to be enlarged, or
	// another owner's StatefulSet, to be scaled. The plan must ensure that the owner's author may change the object. Default: false, only
	// children.
	Foreign bool
}

// edit is an Edit that has been checked.
type edit struct {
	key      store.Key
	kind     kinds.Kind
	observed client.Object
	patch    []byte // nil without a difference
	scale    bool   // the patch is of the subresource
	replicas int32  // of a scale
}

// editGiven makes the edits of a plan. If one of them is wrong, it makes none.
func (p *pass) editGiven(ctx context.Context, given []Edit) error {
	var edits []edit
	for _, g := range given {
		e, err := p.check(g)
		if err != nil {
			return err
		}
		if e.patch != nil {
			edits = append(edits, e)
		}
	}
	stored := make([]client.Object, len(edits))
	var failing batch.Kinds
	err := batch.Each(len(edits), p.engine.parallelism, func(i int) error {
		return failing.Try(edits[i].key, func() (err error) {
			stored[i], err = p.engine.edit(ctx, edits[i])
			return err
		})
	})
	for i, e := range edits {
		if stored[i] == nil {
			continue
		}
		if e.scale {
			p.wrote(e.kind, e.key)
			if p.dryWrites != nil { // only the result of a dry run has it: in others the scaled object shows the change
				p.result.Changes = append(p.result.Changes, Change{Key: e.key, Reason: events.ReasonUpdated, Fields: replicasDiff(e)})
			}
			continue
		}
		p.changed(events.ReasonUpdated, e.kind, e.key, stored[i])
		if p.observed[e.key] != nil {
			p.observed[e.key] = stored[i] // pruning deletes the stored version
		}
	}
	return err
}

// check computes the patch of an edit. An object that isn't the owner's child is an error.
func (p *pass) check(g Edit) (edit, error) {
	k, err := p.engine.kinds.Of(g.Before)
	if err != nil {
		return edit{}, err
	}
	key := k.Key(g.Before)
	if g.Replicas != nil {
		if !kinds.IsNil(g.After) {
			return edit{}, fmt.Errorf("%w: %s to be edited has After and Replicas; give one of them", ErrMisuse, key)
		}
		g.After = g.Before
	}
	if kinds.IsNil(g.After) || reflect.TypeOf(g.After) != reflect.TypeOf(g.Before) {
		return edit{}, fmt.Errorf("%w: %s to be edited is a %T after and a %T before", ErrMisuse, key, g.After, g.Before)
	}
	if !g.Foreign && !p.owns(g.Before) {
		return edit{}, notOwned("edit", key, g.Before)
	}
	if !g.Foreign && p.observed[key] == nil {
		return edit{}, fmt.Errorf("%w: %s to be edited isn't in the view; take it from there", ErrMisuse, key)
	}
	if g.Before.GetUID() == "" || g.Before.GetResourceVersion() == "" {
		return edit{}, fmt.Errorf("%w: %s to be edited has no UID or resource version; take it from the view", ErrMisuse, key)
	}
	if k.Key(g.After) != key || g.After.GetUID() != g.Before.GetUID() || g.After.GetResourceVersion() != g.Before.GetResourceVersion() {
		return edit{}, fmt.Errorf("%w: %s to be edited has another name, UID or resource version after than before; change a copy of it",
			ErrMisuse, key)
	}
	if _, err := status.Of(g.Before); err == nil {
		if same, err := status.Same(g.Before, g.After); err != nil || !same {
			return edit{}, fmt.Errorf("%w: the status of %s can't be edited; it is that of its own controller", ErrMisuse, key)
		}
	}
	patch, err := editPatch(g)
	if err != nil {
		return edit{}, fmt.Errorf("%w: edit of %s: %w", ErrMisuse, key, err)
	}
	return edit{key: key, kind: k, observed: g.Before, patch: patch, scale: g.Replicas != nil, replicas: ptr.Deref(g.Replicas, 0)}, nil
}

// replicasDiff is the change of a scale. The object's own replicas are unknown if they aren't in spec.replicas.
func replicasDiff(e edit) []FieldDiff {
	change := FieldDiff{Path: "spec.replicas", New: int64(e.replicas)}
	if fields, err := payload.Stored(e.observed); err == nil {
		if n, ok, _ := unstructured.NestedInt64(fields, "spec", "replicas"); ok {
			change.Old = n
		}
	}
	return []FieldDiff{change}
}

// editPatch returns the merge patch of an edit, nil if nothing differs in JSON. The server refuses it if the object's UID or version
// has changed.
func editPatch(g Edit) ([]byte, error) {
	if g.Replicas != nil {
		return json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": g.Before.GetResourceVersion()},
			"spec":     map[string]any{"replicas": *g.Replicas},
		})
	}
	before, err := payload.Stored(g.Before)
	if err != nil {
		return nil, err
	}
	after, err := payload.Stored(g.After)
	if err != nil {
		return nil, err
	}
	patch := mergepatch.Between(before, after)
	if len(patch) == 0 {
		return nil, nil
	}
	meta, ok := patch["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["uid"], meta["resourceVersion"] = g.Before.GetUID(), g.Before.GetResourceVersion()
	return json.Marshal(patch)
}

// edit sends an edit. It returns the object as the server stored it, nil if the object doesn't exist any more.
func (e *Engine) edit(ctx context.Context, ed edit) (client.Object, error) {
	obj, err := e.kinds.Empty(ed.kind)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(ed.key.Namespace)
	obj.SetName(ed.key.Name)
	operation, patch := "edit", client.RawPatch(types.MergePatchType, ed.patch)
	if ed.scale {
		operation = "scale"
		err = e.client.SubResource("scale").Patch(ctx, obj, patch, &client.SubResourcePatchOptions{
			PatchOptions: client.PatchOptions{
				FieldManager: e.name,
				// The API server answers with a Scale. A consistent client would find no resource version in the object and fail after the
				// write. If the next pass doesn't observe the write yet, it gets a conflict.
				DisableReadYourWritesConsistency: true,
			},
			SubResourceBody: &autoscalingv1.Scale{},
		})
	} else {
		err = e.client.Patch(ctx, obj, patch, client.FieldOwner(e.name))
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Key: ed.key, Operation: operation, cause: err, object: ed.observed}
	}
	return obj, nil
}
