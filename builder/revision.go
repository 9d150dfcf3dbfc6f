package builder

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// AnnotationRollout on a ControllerRevision holds, as JSON, how far its roll-out is.
const AnnotationRollout = "armature.dev/rollout"

// keptRevisions is how many completed revisions are kept.
const keptRevisions = 2

// rolloutRecord is the value of AnnotationRollout: what must survive a restart.
type rolloutRecord struct {
	Controller string       `json:"controller"` // the engine's name: two can work for one owner
	State      RolloutState `json:"state"`
	StartedAt  *metav1.Time `json:"startedAt,omitempty"`
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// Phase is the furthest that was reached and not ready, PhaseSince when that was first seen. They are kept for
	// Alert and Rollback only.
	Phase      string       `json:"phase,omitempty"`
	PhaseSince *metav1.Time `json:"phaseSince,omitempty"`
	Why        string       `json:"why,omitempty"` // it was rolled back
}

// revision is a ControllerRevision of ours. Its object is shared with the cache: read only.
type revision struct {
	object *appsv1.ControllerRevision
	record rolloutRecord
}

func (r *revision) name() string {
	if r == nil {
		return ""
	}
	return r.object.Name
}

func (r *revision) state() RolloutState {
	if r == nil {
		return ""
	}
	return r.record.State
}

// revisions returns the owner's revisions, oldest first.
func (p *pass) revisions(ctx context.Context) ([]*revision, error) {
	k, err := p.engine.kinds.of(&appsv1.ControllerRevision{})
	if err != nil {
		return nil, err
	}
	if err := p.observe(ctx, k); err != nil {
		return nil, err
	}
	var all []*revision
	for key, obj := range p.seen {
		object, ok := obj.(*appsv1.ControllerRevision)
		if !ok || object.DeletionTimestamp != nil {
			continue
		}
		record, ok := p.recordOf(object)
		if !ok {
			if p.noteRecord(object) {
				delete(p.seen, key) // not to be pruned
			}
			continue // someone else's
		}
		all = append(all, &revision{object: object, record: record})
		delete(p.seen, key) // not to be pruned
	}
	slices.SortFunc(all, func(a, b *revision) int {
		return cmp.Or(cmp.Compare(a.object.Revision, b.object.Revision), strings.Compare(a.name(), b.name()))
	})
	return all, nil
}

// revisionName is the name of a revision of an owner: <owner>-<hash>.
func revisionName(owner, hash string) string {
	const longest = 253
	if cut := longest - 1 - len(hash); len(owner) > cut {
		owner = strings.TrimRight(owner[:cut], "-.")
	}
	return owner + "-" + hash
}

func (p *pass) revisionKey(name string) store.Key {
	return store.KeyOf(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), p.owner.GetNamespace(), name)
}

// createRevision keeps a snapshot.
func (p *pass) createRevision(ctx context.Context, name string, data []byte, number int64, record rolloutRecord) (*revision, error) {
	note, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.owner.GetNamespace(), Name: name,
			Labels:          map[string]string{LabelManagedBy: ManagedBy},
			Annotations:     map[string]string{AnnotationRollout: string(note)},
			OwnerReferences: []metav1.OwnerReference{controllerRef(p.owner, p.ownerKind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
	key := p.revisionKey(name)
	err = p.engine.client.Create(ctx, object, client.FieldOwner(p.engine.name))
	if apierrors.IsAlreadyExists(err) {
		return nil, p.whoseRevision(ctx, object, key, err, func(obj client.Object) bool { _, ok := p.recordOf(obj); return ok })
	}
	if err != nil {
		return nil, &Error{Key: key, Operation: "create", Err: err}
	}
	return &revision{object: object, record: record}, nil
}

// whoseRevision turns the error of a create that met an object: a conflict if it is ours, that is, if the cache is
// late. One of ours that has lost its mark is of no use, and in the way: it is deleted first.
func (p *pass) whoseRevision(ctx context.Context, like client.Object, key store.Key, exists error, isMarked func(client.Object) bool) error {
	k, err := p.engine.kinds.of(like)
	if err != nil {
		return err
	}
	found, err := p.engine.read(ctx, p.engine.live, k, key)
	if err != nil {
		return err
	}
	if found != nil {
		switch {
		case ownershipOf(found, p.owner, p.ownerKind) == foreign:
			return notOwned("apply", key, found)
		case !isMarked(found):
			if _, err := p.engine.delete(ctx, key, found); err != nil {
				return err
			}
		}
	}
	return &Error{Key: key, Operation: "create", Err: apierrors.NewConflict(schema.GroupResource{Group: appsv1.GroupName, Resource: "controllerrevisions"}, key.Name, exists)}
}

// recordOf reads the mark of a revision; false if it isn't one of this controller.
func (p *pass) recordOf(obj client.Object) (record rolloutRecord, ok bool) {
	err := json.Unmarshal([]byte(obj.GetAnnotations()[AnnotationRollout]), &record)
	return record, err == nil && record.Controller == p.engine.name
}

// updateRevision notes how far a roll-out is, unless someone changed the revision since it was read. A number other
// than 0 makes it the newest.
func (p *pass) updateRevision(ctx context.Context, r *revision, number int64, record rolloutRecord) error {
	note, err := json.Marshal(record)
	if err != nil {
		return err
	}
	fields := map[string]any{"metadata": map[string]any{
		"resourceVersion": r.object.ResourceVersion, "annotations": map[string]any{AnnotationRollout: string(note)},
	}}
	if number != 0 {
		fields["revision"] = number
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: r.object.Namespace, Name: r.object.Name}}
	if err := p.engine.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(p.engine.name)); err != nil {
		return &Error{Key: p.revisionKey(r.name()), Operation: "apply", Err: err}
	}
	r.object, r.record = object, record
	return nil
}
