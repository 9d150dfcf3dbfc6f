package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// revisions returns the owner's revision history. It excepts the revisions, and the records of RunOnce children, from pruning.
func (r *rollout) revisions(ctx context.Context) (revision.History, error) {
	k, err := r.engine.kinds.Of(&appsv1.ControllerRevision{})
	if err != nil {
		return nil, err
	}
	if err := r.observe(ctx, k); err != nil {
		return nil, err
	}
	var all []*revision.Revision
	for key, obj := range r.observed {
		object, ok := obj.(*appsv1.ControllerRevision)
		if !ok || object.DeletionTimestamp != nil {
			continue
		}
		if record, ok := revision.ReadRecord(object, r.engine.name); ok {
			all = append(all, &revision.Revision{Object: object, Record: record})
		} else if !r.noteRecord(object) {
			continue // someone else's
		}
		delete(r.observed, key) // not to be pruned
	}
	return revision.HistoryOf(all), nil
}

func (r *rollout) revisionKey(name string) store.Key {
	return store.KeyOf(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), r.owner.GetNamespace(), name)
}

// revisionOwner identifies owner and controller in the hash of a revision: two controllers can work for one owner.
func (e *Engine) revisionOwner(owner client.Object) string {
	return e.name + " " + string(owner.GetUID())
}

// hashOf returns the hash of the desired phases. The engine remembers it, because every child has to be stamped and rendered
// to compute it.
func (e *Engine) hashOf(p *pass, ds []*desired) (string, error) {
	look, known := uint64(len(ds)), true
	for _, d := range ds {
		look = (look ^ d.hash) * 0x9E3779B97F4A7C15
		known = known && d.hashed
	}
	uid := p.owner.GetUID()
	if last, ok := e.memory.Revisions.Get(uid); ok && known && last.From == look {
		return last.Hash, nil
	}
	lines := make([]string, len(ds))
	for i, d := range ds {
		if err := d.stamp(p); err != nil {
			return "", err
		}
		lines[i] = d.line()
	}
	hash := revision.Hash(e.revisionOwner(p.owner), lines)
	if known {
		e.memory.Revisions.Add(uid, memory.Revision{From: look, Hash: hash})
	}
	return hash, nil
}

// line returns what stands for a child, which must be stamped, in the hash of a revision.
func (d *desired) line() string {
	if d.child.run != nil {
		return revision.RunLine(d.key, d.digest)
	}
	c := d.snapshot()
	return c.Line()
}

// snapshot returns a child, which must be stamped, as a revision has it, but without its payload.
func (d *desired) snapshot() revision.Child {
	c := revision.Child{
		Group: d.kind.GVK.Group, Version: d.kind.GVK.Version, Kind: d.kind.GVK.Kind, Untyped: d.kind.Untyped,
		Namespace: d.key.Namespace, Name: d.key.Name, Phase: d.child.phase, Digest: d.digest,
	}
	if d.first != nil {
		c.Ignored = d.child.how.Ignored
	}
	return c
}

// sent returns what is sent when the child is created.
func (d *desired) sent() map[string]any {
	if d.first != nil {
		return d.first
	}
	return d.fields
}

// renderTarget returns the data of the desired revision. Jobs that run once are in its hash only: they are neither run again nor
// undone.
func (r *rollout) renderTarget() ([]byte, error) {
	var children []revision.Child
	var runs []string
	for _, d := range r.ds {
		if err := d.stamp(r.pass); err != nil {
			return nil, err
		}
		if d.child.run != nil {
			runs = append(runs, d.line())
			continue
		}
		c := d.snapshot()
		if !c.IsSecret() {
			var err error
			if c.Payload, err = revision.Payload(d.sent()); err != nil {
				return nil, fmt.Errorf("%w: revision of %s: %w", ErrMisuse, d.key, err)
			}
		}
		children = append(children, c)
	}
	data, err := revision.NewSnapshot(r.phasing.names, children, runs).Render()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	return data, nil
}

// recordStart records that a roll-out is under way, unless that is known or there is none, and deletes stale revisions. It
// precedes the first write, so that a crash can't hide that a roll-out has begun.
func (r *rollout) recordStart(ctx context.Context, known bool) error {
	if !known && r.target.State() != revision.Progressing {
		record := revision.Record{Controller: r.engine.name, State: revision.Progressing, StartedAt: r.nowToTheSecond()}
		if err := r.writeState(ctx, record, true); err != nil {
			return err
		}
		note := fmt.Sprintf("installing revision %s, phase by phase", r.name)
		if r.last != nil {
			note = fmt.Sprintf("rolling out revision %s after %s", r.name, r.last.Name())
		}
		r.engine.emit(r.owner, events.Normal(events.ReasonRolloutStarted, note))
	}
	return r.deleteStale(ctx)
}

// recordCompletion records that a roll-out is completed. From here on a later one is rolled back to this revision.
func (r *rollout) recordCompletion(ctx context.Context) error {
	if r.last == nil && len(r.ds) == 0 {
		return nil // nothing was installed yet
	}
	record := revision.Record{Controller: r.engine.name, State: revision.Completed, FinishedAt: r.nowToTheSecond()}
	if r.target != nil {
		record.StartedAt = r.target.Record.StartedAt
	}
	if err := r.writeState(ctx, record, r.target == nil || r.last == nil); err != nil {
		return err
	}
	r.last = r.target
	r.result.Rollout = r.state(RolloutCompleted)
	r.engine.memory.Failures.Forget(r.failureKey())
	r.engine.emit(r.owner, events.Normal(events.ReasonRolloutCompleted, fmt.Sprintf("all phases of revision %s are ready", r.name)))
	return r.deleteStale(ctx)
}

// writeState writes the state of the roll-out to the desired revision, which it creates if there is none. A new roll-out makes
// its revision the newest.
func (r *rollout) writeState(ctx context.Context, record revision.Record, newest bool) error {
	number := int64(0)
	if newest {
		number = r.history.Next()
	}
	text, err := record.Text()
	if err != nil {
		return err
	}
	if r.target != nil {
		object, err := r.patchRevision(ctx, r.target.Object, wellknown.AnnotationRollout, text, number)
		if err != nil {
			return &Error{Key: r.revisionKey(r.target.Name()), Operation: "apply", Err: err}
		}
		r.target.Object, r.target.Record = object, record
		return nil
	}
	data, err := r.renderTarget()
	if err != nil {
		return err
	}
	object := r.newRevision(r.name, data, wellknown.AnnotationRollout, text, number)
	err = r.createRevision(ctx, object, func(obj client.Object) bool { _, ok := revision.ReadRecord(obj, r.engine.name); return ok })
	if err != nil {
		return err
	}
	r.target = &revision.Revision{Object: object, Record: record}
	r.history = append(r.history, r.target)
	return nil
}

// deleteStale deletes the revisions that the history doesn't retain.
func (r *rollout) deleteStale(ctx context.Context) error {
	retained, stale := r.history.Truncate(r.last, r.target)
	var errs []error
	for _, rev := range stale {
		_, err := r.engine.delete(ctx, r.revisionKey(rev.Name()), rev.Object)
		errs = append(errs, err)
	}
	r.history = retained
	return errors.Join(errs...)
}

func (r *rollout) nowToTheSecond() *metav1.Time {
	now := metav1.NewTime(r.engine.now().Truncate(time.Second))
	return &now
}

// newRevision returns a ControllerRevision of the owner.
func (r *rollout) newRevision(name string, data []byte, annotation, text string, number int64) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.owner.GetNamespace(), Name: name,
			Labels:          map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy},
			Annotations:     map[string]string{annotation: text},
			OwnerReferences: []metav1.OwnerReference{inventory.ControllerReference(r.owner, r.ownerKind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
}

// createRevision creates a ControllerRevision. If it exists and is the owner's, that is a conflict: the cache lags behind. One
// without its annotation, which isIntact finds out, is useless and in the way: it is deleted first.
func (r *rollout) createRevision(ctx context.Context, object *appsv1.ControllerRevision, isIntact func(client.Object) bool) error {
	key := r.revisionKey(object.Name)
	exists := r.engine.client.Create(ctx, object, client.FieldOwner(r.engine.name))
	if exists == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(exists) {
		return &Error{Key: key, Operation: "create", Err: exists}
	}
	k, err := r.engine.kinds.Of(object)
	if err != nil {
		return err
	}
	found, err := r.engine.read(ctx, r.engine.live, k, key)
	if err != nil {
		return err
	}
	if found != nil {
		switch {
		case inventory.OwnershipOf(found, r.owner, r.ownerKind) == inventory.NotOwned:
			return notOwned("apply", key, found)
		case !isIntact(found):
			if _, err := r.engine.delete(ctx, key, found); err != nil {
				return err
			}
		}
	}
	resource := schema.GroupResource{Group: appsv1.GroupName, Resource: "controllerrevisions"}
	return &Error{Key: key, Operation: "create", Err: apierrors.NewConflict(resource, key.Name, exists)}
}

// patchRevision writes an annotation of a ControllerRevision, unless someone has changed the object since it was read. A number
// other than 0 makes it the newest. It returns the object as it is stored.
func (r *rollout) patchRevision(
	ctx context.Context, before client.Object, annotation, text string, number int64,
) (*appsv1.ControllerRevision, error) {
	fields := map[string]any{"metadata": map[string]any{
		"resourceVersion": before.GetResourceVersion(), "annotations": map[string]any{annotation: text},
	}}
	if number != 0 {
		fields["revision"] = number
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: before.GetNamespace(), Name: before.GetName()}}
	return object, r.engine.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.engine.name))
}

// restore returns a child of a revision as a desired object, with the options of the child that is desired now.
func (r *rollout) restore(c *revision.Child, like Child) (*desired, error) {
	if len(c.Ignored) > 0 {
		like = like.with(Ignore(c.Ignored...))
	}
	d := &desired{kind: kinds.Kind{GVK: c.GVK(), Untyped: c.Untyped}, key: c.Key(), digest: c.Digest, child: like}
	d.child.phase = c.Phase
	if err := apijson.Unmarshal(c.Payload, &d.fields); err != nil {
		return nil, fmt.Errorf("revision of %s: %w", d.key, err)
	}
	var err error
	if d.object, err = r.engine.kinds.Empty(d.kind); err != nil {
		return nil, err
	}
	if u, ok := d.object.(*unstructured.Unstructured); ok {
		u.Object = runtime.DeepCopyJSON(d.fields)
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.fields, d.object); err != nil {
		return nil, fmt.Errorf("revision of %s: %w", d.key, err)
	} else {
		d.object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	}
	d.child.object = d.object
	if err := d.leaveOut(d.fields); err != nil {
		return nil, err
	}
	if d.compared, err = d.toCompare(); err != nil {
		return nil, err
	}
	return d, r.checkRestored(d)
}

// checkRestored reports a child that isn't of this owner: people can edit revisions.
func (r *rollout) checkRestored(d *desired) error {
	gvk, err := gvkOfFields(d.fields)
	if err != nil || gvk != d.kind.GVK {
		return fmt.Errorf("revision of %s: it is of the kind %s", d.key, gvk)
	}
	_, key, err := r.keyOf(d.child)
	if err != nil {
		return err
	}
	if key != d.key || inventory.OwnershipOf(d.object, r.owner, r.ownerKind) != inventory.Owned || d.fields["metadata"] == nil {
		return fmt.Errorf("revision of %s: it is of %s, or of another owner", d.key, key)
	}
	return nil
}

func gvkOfFields(fields map[string]any) (schema.GroupVersionKind, error) {
	apiVersion, _ := fields["apiVersion"].(string)
	name, _ := fields["kind"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	return gv.WithKind(name), err
}

// digestOf returns the digest of the last apply of an object, empty if it has none.
func digestOf(obj client.Object) string {
	if obj == nil || obj.GetAnnotations()[wellknown.AnnotationDigest] == notApplied {
		return ""
	}
	return obj.GetAnnotations()[wellknown.AnnotationDigest]
}
