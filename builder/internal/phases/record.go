package phases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Identity identifies owner and controller in the hash of a revision, because two controllers can work for one owner.
func Identity(controller string, owner client.Object) string {
	return controller + " " + string(owner.GetUID())
}

// IsOwn reports whether a ControllerRevision is one of a roll-out by this controller, or a record of runs. Pruning must leave these;
// the roll-out itself deletes them.
func IsOwn(object *appsv1.ControllerRevision, controller string) bool {
	_, ok := revision.ReadRecord(object, controller)
	return ok || revision.ReadRuns(object) != nil
}

// readHistory reads the revision history, and the records of runs.
func (p *pass) readHistory(ctx context.Context) error {
	objects, err := p.cluster.Owned(ctx, &appsv1.ControllerRevision{})
	if err != nil {
		return err
	}
	var all []*revision.Revision
	for _, obj := range objects {
		object, ok := obj.(*appsv1.ControllerRevision)
		if !ok || object.DeletionTimestamp != nil {
			continue
		}
		if record, ok := revision.ReadRecord(object, p.Controller); ok {
			all = append(all, &revision.Revision{Object: object, Record: record})
		} else {
			p.noteRuns(object)
		}
	}
	p.history = revision.HistoryOf(all)
	p.last, p.target = p.history.Select(p.name, p.CompletedRevision)
	return nil
}

// recordStart records that a roll-out is in progress, unless that is recorded or there is no roll-out, and deletes stale revisions. It
// precedes the first write, so that a crash can't hide the start of a roll-out.
func (p *pass) recordStart(ctx context.Context, known bool) error {
	if !known && p.target.State() != rollout.Progressing {
		record := revision.Record{Controller: p.Controller, State: rollout.Progressing, StartedAt: p.nowToTheSecond()}
		if err := p.writeState(ctx, record, true); err != nil {
			return err
		}
		note := fmt.Sprintf("installing revision %s, phase by phase", p.name)
		if p.last != nil {
			note = fmt.Sprintf("rolling out revision %s after %s", p.name, p.last.Name())
		}
		p.Emit(events.Normal(events.ReasonRolloutStarted, note))
	}
	return p.deleteStale(ctx)
}

// recordCompletion records that a roll-out is completed. From then on a later one is rolled back to this revision.
func (p *pass) recordCompletion(ctx context.Context) error {
	if p.last == nil && len(p.Children) == 0 {
		return nil // nothing was installed yet
	}
	record := revision.Record{Controller: p.Controller, State: rollout.Completed, FinishedAt: p.nowToTheSecond()}
	if p.target != nil {
		record.StartedAt = p.target.Record.StartedAt
	}
	if err := p.writeState(ctx, record, p.target == nil || p.last == nil); err != nil {
		return err
	}
	p.last = p.target
	p.result.Status = p.status(rollout.Completed)
	p.Emit(events.Normal(events.ReasonRolloutCompleted, fmt.Sprintf("all phases of revision %s are ready", p.name)))
	return p.deleteStale(ctx)
}

// writeState writes the state of the roll-out to the desired revision, and creates the revision if needed. A new roll-out makes its
// revision the newest.
func (p *pass) writeState(ctx context.Context, record revision.Record, newest bool) error {
	number := int64(0)
	if newest {
		number = p.history.Next()
	}
	text, err := record.Text()
	if err != nil {
		return err
	}
	if p.target != nil {
		object, err := p.patchRevision(ctx, p.target.Object, wellknown.AnnotationRollout, text, number)
		if err != nil {
			return err
		}
		p.target.Object, p.target.Record = object, record
		return nil
	}
	data, err := p.renderTarget()
	if err != nil {
		return err
	}
	object := p.Objects.New(p.name, data, wellknown.AnnotationRollout, text, number)
	isIntact := func(obj client.Object) bool { _, ok := revision.ReadRecord(obj, p.Controller); return ok }
	if err := p.createRevision(ctx, object, isIntact); err != nil {
		return err
	}
	p.target = &revision.Revision{Object: object, Record: record}
	p.history = append(p.history, p.target)
	return nil
}

// renderTarget returns the data of the desired revision. RunOnce Jobs are only in its hash, because a rollback neither repeats nor
// undoes them.
func (p *pass) renderTarget() ([]byte, error) {
	children, err := p.cluster.Snapshot()
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, c := range p.Children {
		if c.Run != nil {
			runs = append(runs, c.Run.Line(c.Key))
		}
	}
	data, err := revision.NewSnapshot(p.Phases, children, runs).Render()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", failure.ErrMisuse, err)
	}
	return data, nil
}

// deleteStale deletes the revisions that the history doesn't retain.
func (p *pass) deleteStale(ctx context.Context) error {
	retained, stale := p.history.Truncate(p.last, p.target)
	var errs []error
	for _, rev := range stale {
		_, err := p.cluster.Delete(ctx, p.Objects.Key(rev.Name()), rev.Object)
		errs = append(errs, err)
	}
	p.history = retained
	return errors.Join(errs...)
}

// status returns the state of the roll-out.
func (p *pass) status(state rollout.State) *rollout.Status {
	s := &rollout.Status{State: state, From: p.last.Name(), To: p.name}
	if p.target != nil {
		record := p.target.Record
		s.Message, s.StartedAt, s.FinishedAt = record.Message, record.Started(), record.Finished()
	}
	return s
}

// createRevision creates a ControllerRevision. If the owner has one of that name, that is a conflict: the cache lags behind, or its
// filter hides an object that has lost its label, which gets it back. It first deletes one that isn't intact.
func (p *pass) createRevision(ctx context.Context, object *appsv1.ControllerRevision, isIntact func(client.Object) bool) error {
	key := p.Objects.Key(object.Name)
	exists := p.Client.Create(ctx, object, client.FieldOwner(p.Controller))
	if exists == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(exists) {
		return &failure.Error{Key: key, Operation: "create", Err: exists}
	}
	found, err := p.Objects.Find(ctx, key.Name)
	switch {
	case err != nil:
		return err
	case found == nil:
	case p.Objects.IsOthers(found):
		return failure.NotOwned("apply", key, found)
	case !isIntact(found):
		if _, err := p.cluster.Delete(ctx, key, found); err != nil {
			return err
		}
	case found.Labels[wellknown.LabelManagedBy] != wellknown.ManagedBy:
		labels := map[string]any{wellknown.LabelManagedBy: wellknown.ManagedBy}
		fields := map[string]any{"metadata": map[string]any{"resourceVersion": found.ResourceVersion, "labels": labels}}
		if err := p.patch(ctx, found, fields); err != nil {
			return &failure.Error{Key: key, Operation: "apply", Err: err}
		}
	}
	return p.Objects.Conflict(key.Name, exists)
}

// patchRevision writes an annotation of a ControllerRevision, unless the object has changed since it was read. A number other than 0
// makes it the newest. It returns the stored object.
func (p *pass) patchRevision(
	ctx context.Context, before client.Object, annotation, text string, number int64,
) (*appsv1.ControllerRevision, error) {
	fields := map[string]any{"metadata": map[string]any{
		"resourceVersion": before.GetResourceVersion(), "annotations": map[string]any{annotation: text},
	}}
	if number != 0 {
		fields["revision"] = number
	}
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: before.GetNamespace(), Name: before.GetName()}}
	err := p.patch(ctx, object, fields)
	if p.DryRun && apierrors.IsNotFound(err) { // the dry run has created it, and so the API server doesn't have it
		return before.DeepCopyObject().(*appsv1.ControllerRevision), nil
	}
	if err != nil {
		return nil, &failure.Error{Key: p.Objects.Key(before.GetName()), Operation: "apply", Err: err}
	}
	return object, nil
}

// patch makes a merge patch of an object, and decodes the API server's answer into it.
func (p *pass) patch(ctx context.Context, object client.Object, fields map[string]any) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return p.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, body), client.FieldOwner(p.Controller))
}

func (p *pass) nowToTheSecond() *metav1.Time {
	now := metav1.NewTime(p.Now().Truncate(time.Second))
	return &now
}
