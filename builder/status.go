package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// PatchStatus writes the status of after, a changed copy of before, and makes no request if they are the same.
// The write is refused with a conflict if someone changed the object since before was read.
func (e *Engine) PatchStatus(ctx context.Context, before, after client.Object) error {
	old, err := statusOf(before)
	if err != nil {
		return err
	}
	wanted, err := statusOf(after)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(old, wanted) {
		return nil
	}
	patch, err := statusPatch(before.GetResourceVersion(), old, wanted)
	if err != nil || patch == nil {
		return err
	}
	obj := reflect.New(reflect.TypeOf(after).Elem()).Interface().(client.Object)
	obj.GetObjectKind().SetGroupVersionKind(after.GetObjectKind().GroupVersionKind())
	obj.SetNamespace(after.GetNamespace())
	obj.SetName(after.GetName())
	return e.client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(e.name))
}

// statusPatch returns the merge patch between two statuses, nil if they are the same in JSON.
func statusPatch(resourceVersion string, old, wanted any) ([]byte, error) {
	before, err := json.Marshal(map[string]any{"status": old})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(map[string]any{"status": wanted})
	if err != nil {
		return nil, err
	}
	diff, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil || string(diff) == "{}" {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(diff, &patch); err != nil {
		return nil, err
	}
	patch["metadata"] = map[string]any{"resourceVersion": resourceVersion}
	return json.Marshal(patch)
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

// writeStatus writes a plan's status, overridden by what went wrong in carrying it out.
func (l *loop[T]) writeStatus(ctx context.Context, owner T, plan Plan[T], doErr error, now time.Time) error {
	after := plan.Status
	if isNil(after) {
		after = owner
	}
	switch {
	case doErr == nil:
		after = withoutFailure(after).(T)
	case !isConflict(doErr):
		after = after.DeepCopyObject().(T)
		reportFailure(after, doErr, now)
	}
	// An owner that is gone needs no status.
	return client.IgnoreNotFound(l.engine.PatchStatus(ctx, owner, after))
}

// withoutFailure drops the Stalled that an earlier pass reported, now that all could be applied.
func withoutFailure(owner client.Object) client.Object {
	conditioned, ok := owner.(Conditioned)
	if !ok {
		return owner
	}
	stalled := meta.FindStatusCondition(*conditioned.Conditions(), ConditionStalled)
	if stalled == nil || (stalled.Reason != events.ReasonApplyFailed && stalled.Reason != events.ReasonNotOwned) {
		return owner
	}
	copied := owner.DeepCopyObject().(Conditioned)
	meta.RemoveStatusCondition(copied.Conditions(), ConditionStalled)
	return copied
}

// reportFailure sets Ready=False on an owner whose children could not be applied, and Stalled=True if no retry helps.
func reportFailure(owner client.Object, err error, now time.Time) {
	conditioned, ok := owner.(Conditioned)
	if !ok {
		return
	}
	reason := events.ReasonApplyFailed
	if errors.Is(err, ErrNotOwned) {
		reason = events.ReasonNotOwned
	}
	set := func(kind string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(conditioned.Conditions(), Condition{
			Type: kind, Status: status, Reason: reason, Message: summarize(err),
			ObservedGeneration: owner.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
		})
	}
	set(ConditionReady, metav1.ConditionFalse)
	if IsTerminal(err) {
		set(ConditionStalled, metav1.ConditionTrue)
	}
}
