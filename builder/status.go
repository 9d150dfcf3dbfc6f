package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/mergepatch"
	"github.com/armature-dev/armature/builder/internal/status"
)

// sameStatus reports whether two objects of one kind have the same status.
func sameStatus(a, b client.Object) (bool, error) {
	if kinds.IsNil(a) || kinds.IsNil(b) || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false, fmt.Errorf("%w: status of %T patched with one of %T", ErrMisuse, a, b)
	}
	one, errOne := statusOf(a)
	other, errOther := statusOf(b)
	if err := errors.Join(errOne, errOther); err != nil {
		return false, err
	}
	return equality.Semantic.DeepEqual(one, other), nil
}

// patchStatus writes a status that differs. It returns the object as the server stored it, nil if there was nothing to write.
func (e *Engine) patchStatus(ctx context.Context, before, after client.Object) (client.Object, error) {
	k, err := e.kinds.Of(after)
	if err != nil {
		return nil, err
	}
	key := k.Key(before)
	old, errOld := statusOf(before)
	planned, errPlanned := statusOf(after)
	if err := errors.Join(errOld, errPlanned); err != nil {
		return nil, err
	}
	patch, err := statusPatch(e.inventoryOf(before).ResourceVersion, old, planned)
	if err != nil {
		return nil, fmt.Errorf("%w: status of %s: %w", ErrMisuse, key, err)
	}
	if patch == nil {
		return nil, nil
	}
	obj, err := e.kinds.Empty(k)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(key.Namespace)
	obj.SetName(key.Name)
	if err := e.client.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(e.name)); err != nil {
		return nil, &Error{Key: key, Operation: "write status of", cause: err, object: before}
	}
	return obj, nil
}

// statusPatch returns the merge patch between two statuses, nil if they are equal in JSON.
func statusPatch(resourceVersion string, old, planned any) ([]byte, error) {
	before, errBefore := statusFields(old)
	after, errAfter := statusFields(planned)
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

// statusFields returns an object that has only a status, as decoded from JSON.
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
	field := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !field.IsValid() {
		return nil, fmt.Errorf("%w: %T has no field Status", ErrMisuse, obj)
	}
	return field.Interface(), nil
}

// explainNotFound returns the cause of a failed status write: nil if the owner is deleted, because it then needs no status, otherwise
// an error, because its kind has no status subresource. The API server returns the same answer for both.
func (e *Engine) explainNotFound(ctx context.Context, owner client.Object) error {
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	found, err := e.read(ctx, e.live, k, k.Key(owner))
	if err != nil || found == nil || found.GetUID() != owner.GetUID() {
		return err
	}
	return fmt.Errorf("%w: %s has no status subresource; the CRD must enable it", ErrMisuse, k.GVK.GroupKind())
}

// ReportStatus writes the status of an owner from a reconciler of your own. after is the owner, or a copy of it with other changes of
// the status. ReportStatus sets the standard conditions, as [Result.SetConditions] does from the result of a Builder's Reconcile, and
// makes one patch with only the difference between the owner's status and that of after, or no request if there is none. It changes
// neither argument:
//
//	after := owner.DeepCopy()
//	after.Status.Replicas = n
//	err = engine.ReportStatus(ctx, owner, after, res, err)
//
// It doesn't write to an owner that is deleted or terminating. If the object has changed since owner was read, it returns a conflict,
// and the next pass observes the change.
func (e *Engine) ReportStatus(ctx context.Context, owner, after Conditioned, res Result, err error) error {
	if kinds.IsNil(owner) || kinds.IsNil(after) {
		return fmt.Errorf("%w: the owner is nil", ErrMisuse)
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	reported, ok := after.DeepCopyObject().(Conditioned)
	if !ok {
		return fmt.Errorf("%w: a copy of %T has no conditions", ErrMisuse, after)
	}
	res.SetConditions(reported.Conditions(), owner.GetGeneration(), err, e.now())
	patchErr := e.writeChangedStatus(ctx, owner, reported)
	if apierrors.IsNotFound(patchErr) {
		return e.explainNotFound(ctx, owner)
	}
	return patchErr
}

// writeChangedStatus writes the status of after, a changed copy of before. If both are equal it makes no request. It changes neither
// argument.
func (e *Engine) writeChangedStatus(ctx context.Context, before, after client.Object) error {
	same, err := sameStatus(before, after)
	if err != nil || same {
		return err
	}
	_, err = e.patchStatus(ctx, before, after)
	return err
}

// writeStatus writes the plan's status, with what the builder reports in it. An owner that is gone needs no status. It returns how long
// the write is postponed, 0 if it isn't, and the owner as the API server stored it, nil if nothing was written.
func (l *loop[T]) writeStatus(
	ctx context.Context, owner T, plan Plan[T], res Result, doErr error, now time.Time,
) (putOff time.Duration, written client.Object, err error) {
	after, err := statusAfter(owner, plan, res, doErr, now)
	if err == nil {
		after = withUndoable(owner, l.withTurn(owner, after, res, doErr))
	}
	if err != nil || client.Object(after) == client.Object(owner) {
		return 0, nil, err
	}
	same, err := sameStatus(owner, after)
	if same {
		l.statusWrites.UpToDate(owner.GetUID())
	}
	if err != nil || same {
		return 0, nil, err
	}
	if plan.StatusCanWait > 0 && !plan.DeleteOwner && res.turn == nil && (doErr == nil || isConflict(doErr)) {
		if left := l.statusWrites.Left(owner.GetUID(), plan.StatusCanWait, l.now()); left > 0 {
			return left, nil, nil
		}
	}
	written, err = l.engine.patchStatus(ctx, owner, after)
	if apierrors.IsNotFound(err) {
		return 0, nil, l.engine.explainNotFound(ctx, owner)
	}
	if written != nil {
		l.statusWrites.Wrote(owner.GetUID(), l.now())
	}
	return 0, written, err
}

// statusAfter returns an owner with the status that it should have after a pass. With Report the builder sets the standard conditions.
// Without it, the plan's conditions are overridden only by a failure, by contested children, and by the completed revision.
// Plan.Finish comes last.
func statusAfter[T client.Object](owner T, plan Plan[T], res Result, err error, now time.Time) (T, error) {
	if !plan.Report || owner.GetDeletionTimestamp() != nil {
		after := withContests(owner, reported(owner, plan.Status, err, now), res, err, now)
		after = withEffects(owner, withoutPause(withRolledOut(owner, after, res, now)), res, now)
		if plan.Finish != nil && err == nil && len(res.contested()) == 0 {
			after = withOwnConditions(after)
			plan.Finish(after, res)
		}
		return after, nil
	}
	after := plan.Status
	if kinds.IsNil(after) {
		after = owner
	}
	if _, ok := any(after).(Conditioned); !ok {
		return owner, fmt.Errorf("%w: Plan.Report needs an owner with conditions; %T is no builder.Conditioned", ErrMisuse, owner)
	}
	after = withOwnConditions(after)
	res.SetConditions(any(after).(Conditioned).Conditions(), owner.GetGeneration(), err, now)
	if plan.Finish != nil {
		plan.Finish(after, res)
	}
	return after, nil
}

// reported returns an owner with its desired status: the plan's, overridden by a failure of the pass. It changes neither argument. It
// doesn't report a conflict, because the pass is retried.
func reported[T client.Object](owner, planned T, err error, now time.Time) T {
	after := planned
	if kinds.IsNil(after) {
		after = owner
	}
	conditioned, ok := any(after).(Conditioned)
	if !ok || isConflict(err) || (err == nil && !status.HasReport(*conditioned.Conditions())) {
		return after
	}
	after = withOwnConditions(after)
	conditions := any(after).(Conditioned).Conditions()
	if err == nil {
		status.RemoveReport(conditions)
		return after
	}
	failure := status.Failure{Reason: failureReason(err), Message: summarize(err), Terminal: IsTerminal(err)}
	failure.Report(conditions, *any(owner).(Conditioned).Conditions(), owner.GetGeneration(), now)
	return after
}

// withOwnConditions returns a copy of an owner, which must be Conditioned, with its own conditions. It shares the rest with the
// argument, so that an owner with a large spec costs the same as a small one.
func withOwnConditions[T client.Object](owner T) T {
	after := newOwner[T]()
	reflect.ValueOf(after).Elem().Set(reflect.ValueOf(owner).Elem())
	theirs, ours := any(owner).(Conditioned).Conditions(), any(after).(Conditioned).Conditions()
	if ours == theirs { // the conditions are behind a pointer
		return owner.DeepCopyObject().(T)
	}
	*ours = slices.Clone(*theirs)
	return after
}
