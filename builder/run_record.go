package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptRuns is how many values a record keeps: each some 200 bytes, of the 256 KiB that annotations may have.
const keptRuns = 100

// runRecord is the value of AnnotationRunOnce on a ControllerRevision: the values for which a child has run.
type runRecord struct {
	Child string      `json:"child"`
	Runs  []runResult `json:"runs"`

	object client.Object // the ControllerRevision; nil if there is none yet
	damage error         // why it can't be read; nil if it can
}

// runResult is a run that succeeded.
type runResult struct {
	ID         string      `json:"id"`
	Value      string      `json:"value"`
	Job        string      `json:"job"`
	FinishedAt metav1.Time `json:"finishedAt"`
}

// find returns the run of an id; nil if it is not on record. A nil record has none.
func (r *runRecord) find(id string) *runResult {
	if r == nil {
		return nil
	}
	for i := range r.Runs {
		if r.Runs[i].ID == id {
			return &r.Runs[i]
		}
	}
	return nil
}

// recordData is the data of a record's ControllerRevision, which can't be changed.
type recordData struct {
	RunOnce string `json:"runOnce"` // the child
}

// runRecordOf reads the record that an object is; nil if it is none. What its data says is a record remains one when its
// annotation, which people may edit, is damaged.
func runRecordOf(obj client.Object) *runRecord {
	var data recordData
	revision, ok := obj.(*appsv1.ControllerRevision)
	if !ok || json.Unmarshal(revision.Data.Raw, &data) != nil || data.RunOnce == "" {
		return nil
	}
	record := &runRecord{}
	err := json.Unmarshal([]byte(obj.GetAnnotations()[AnnotationRunOnce]), record)
	if err == nil && record.Child != data.RunOnce {
		err = fmt.Errorf("child is %q; want %q", record.Child, data.RunOnce)
	}
	record.Child, record.object, record.damage = data.RunOnce, obj, err
	return record
}

// errDamagedRecord is the cause of errors about records that can't be read. Nothing runs until someone repairs them: to take
// them for empty would run again what has run.
var errDamagedRecord = errors.New("the record of what has run can't be read")

// checkRecord reports a child's record that was observed and can't be read.
func (p *pass) checkRecord(child string) error {
	record := p.runs[child]
	if record == nil || record.damage == nil {
		return nil
	}
	return &Error{Key: p.revisionKey(record.object.GetName()), Operation: "read", object: record.object, Err: fmt.Errorf(
		"annotation %s: %w: %w; repair its JSON, or delete the object to run all values of %q again",
		AnnotationRunOnce, errDamagedRecord, record.damage, child)}
}

// noteRecord keeps a record that was observed for the pass, and from being pruned.
func (p *pass) noteRecord(obj client.Object) (noted bool) {
	record := runRecordOf(obj)
	if record == nil {
		return false
	}
	if p.runs == nil {
		p.runs = map[string]*runRecord{}
	}
	p.runs[record.Child] = record
	return true
}

// recordName is the name of a child's record. The operator's name isn't in it: renamed, it must not run again.
func (p *pass) recordName(child string) string {
	sum := sha256.Sum256([]byte("run-once " + string(p.owner.GetUID()) + " " + child))
	return revisionName(p.owner.GetName()+"-"+child, hex.EncodeToString(sum[:6]))
}

// readRecord reads a child's record past the cache, which may lag behind: a run that is on record must not be repeated.
func (p *pass) readRecord(ctx context.Context, child string) error {
	k, err := p.engine.kinds.of(&appsv1.ControllerRevision{})
	if err != nil {
		return err
	}
	found, err := p.engine.read(ctx, p.engine.live, k, p.revisionKey(p.recordName(child)))
	if found != nil && metav1.IsControlledBy(found, p.owner) {
		p.noteRecord(found)
	}
	if err != nil {
		return err
	}
	return p.checkRecord(child)
}

// writeRecord puts runs on record. The record must be the one that was read: no run that another process put there gets
// lost.
func (p *pass) writeRecord(ctx context.Context, child string, succeeded []runResult) error {
	next := &runRecord{Child: child}
	before := p.runs[child]
	if before != nil {
		next.Runs = slices.Clone(before.Runs)
	}
	next.Runs = append(next.Runs, succeeded...)
	next.Runs = next.Runs[max(0, len(next.Runs)-keptRuns):]
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if before == nil {
		err = p.createRecord(ctx, next, string(text))
	} else {
		err = p.patchRecord(ctx, next, before.object, string(text))
	}
	if err != nil {
		return err
	}
	if p.runs == nil {
		p.runs = map[string]*runRecord{}
	}
	p.runs[child] = next
	return nil
}

func (p *pass) createRecord(ctx context.Context, next *runRecord, text string) error {
	data, err := json.Marshal(recordData{next.Child})
	if err != nil {
		return err
	}
	key := p.revisionKey(p.recordName(next.Child))
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels:          map[string]string{LabelManagedBy: ManagedBy},
			Annotations:     map[string]string{AnnotationRunOnce: text},
			OwnerReferences: []metav1.OwnerReference{controllerRef(p.owner, p.ownerKind)},
		},
		Data: runtime.RawExtension{Raw: data},
	}
	err = p.engine.client.Create(ctx, object, client.FieldOwner(p.engine.name))
	if apierrors.IsAlreadyExists(err) {
		if damaged := p.readRecord(ctx, next.Child); damaged != nil {
			return damaged
		}
		return p.whoseRevision(ctx, object, key, err, func(obj client.Object) bool { return runRecordOf(obj) != nil })
	}
	if err != nil {
		return &Error{Key: key, Operation: "create", Err: err}
	}
	next.object = object
	return nil
}

func (p *pass) patchRecord(ctx context.Context, next *runRecord, before client.Object, text string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": before.GetResourceVersion(), "annotations": map[string]any{AnnotationRunOnce: text},
	}})
	if err != nil {
		return err
	}
	object := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: before.GetNamespace(), Name: before.GetName()}}
	if err := p.engine.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(p.engine.name)); err != nil {
		return &Error{Key: p.revisionKey(before.GetName()), Operation: "apply", Err: fmt.Errorf("record of what has run: %w", err)}
	}
	next.object = object
	return nil
}
