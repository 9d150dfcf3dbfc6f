package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/batch"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/mergepatch"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Edit is a change of a child that exists, such as that of a Job's spec.suspend:
//
//	after := job.DeepCopy()
//	after.Spec.Suspend = ptr.To(true)
//	plan.Edits = append(plan.Edits, builder.Edit{Before: job, After: after})
//
// What differs is sent as one merge patch (lists as a whole), to this very object in its observed version: if it has
// changed since, that is a conflict, and the next pass sees it. If it is deleted there is nothing to do, and if nothing
// differs no request is made. An edit of what Children apply would be undone by the next pass.
type Edit struct {
	// Before is a child, taken from the view. One that the owner doesn't control is ErrNotOwned, unless Foreign is set.
	Before client.Object
	// After is a changed copy of Before. It is ErrMisuse if its status differs, or what tells which object it is.
	After client.Object
	// Foreign allows Before not to be a child: a claim that a StatefulSet made for one, to be enlarged. The plan must see to
	// it that the owner's author may have it changed. Default: only children are.
	Foreign bool
}

// edit is an Edit that has been checked.
type edit struct {
	key   store.Key
	kind  kinds.Kind
	seen  client.Object
	patch []byte // nil: nothing differs
}

// editGiven makes the edits that a plan asks for. None is made if one of them is wrong.
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
		p.changed(events.ReasonUpdated, e.kind, e.key, stored[i])
		if p.observed[e.key] != nil {
			p.observed[e.key] = stored[i] // should it be pruned
		}
	}
	return err
}

// check refuses an edit that isn't one of a child of the owner's, and finds out what it changes.
func (p *pass) check(g Edit) (edit, error) {
	k, err := p.engine.kinds.Of(g.Before)
	if err != nil {
		return edit{}, err
	}
	key := k.Key(g.Before)
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
	if _, err := statusOf(g.Before); err == nil {
		if same, err := sameStatus(g.Before, g.After); err != nil || !same {
			return edit{}, fmt.Errorf("%w: the status of %s can't be edited; it is that of its own controller", ErrMisuse, key)
		}
	}
	patch, err := editPatch(g)
	if err != nil {
		return edit{}, fmt.Errorf("%w: edit of %s: %w", ErrMisuse, key, err)
	}
	return edit{key: key, kind: k, seen: g.Before, patch: patch}, nil
}

// editPatch returns the merge patch of an edit, nil if nothing differs in JSON. It is refused by the server if the
// object isn't the observed one any more.
func editPatch(g Edit) ([]byte, error) {
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

// edit sends an edit. It returns the object as the server stored it, nil if it was gone.
func (e *Engine) edit(ctx context.Context, ed edit) (client.Object, error) {
	obj, err := e.kinds.Empty(ed.kind)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(ed.key.Namespace)
	obj.SetName(ed.key.Name)
	err = e.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, ed.patch), client.FieldOwner(e.name))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Key: ed.key, Operation: "edit", Err: err, object: ed.seen}
	}
	return obj, nil
}

// Scale sets the number of an object's replicas through its subresource scale: of a Deployment, a StatefulSet, or a
// custom resource that has it. Whatever else manages the object goes on to do so, as with a HorizontalPodAutoscaler.
type Scale struct {
	// Target is the object, taken from the view. It need not be the owner's: the plan must see to it that the owner's
	// author may scale it.
	Target client.Object
	// Replicas is how many there shall be.
	Replicas int32
}

// scaleGiven scales what a plan says. If an object has changed since it was observed, that is a conflict, and the next pass
// sees it; if it is deleted there is nothing to do.
func (p *pass) scaleGiven(ctx context.Context, scales []Scale) error {
	return batch.Each(len(scales), p.engine.parallelism, func(i int) error { return p.scale(ctx, scales[i]) })
}

func (p *pass) scale(ctx context.Context, s Scale) error {
	k, err := p.engine.kinds.Of(s.Target)
	if err != nil {
		return err
	}
	key := k.Key(s.Target)
	if s.Target.GetResourceVersion() == "" {
		return fmt.Errorf("%w: %s to be scaled has no resource version; take it from the view", ErrMisuse, key)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": s.Target.GetResourceVersion()},
		"spec":     map[string]any{"replicas": s.Replicas},
	})
	if err != nil {
		return err
	}
	obj, err := p.engine.kinds.Empty(k)
	if err != nil {
		return err
	}
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	err = p.engine.client.SubResource("scale").Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), &client.SubResourcePatchOptions{
		PatchOptions: client.PatchOptions{
			FieldManager: p.engine.name,
			// The answer is a Scale, so that a consistent client finds no resource version in the object, and fails after
			// the write. A pass that doesn't see the write yet makes a conflict.
			DisableReadYourWritesConsistency: true,
		},
		SubResourceBody: &autoscalingv1.Scale{},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return &Error{Key: key, Operation: "scale", Err: err, object: s.Target}
	}
	p.wrote(k, key)
	return nil
}
