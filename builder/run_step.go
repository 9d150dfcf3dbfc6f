package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// hasRuns reports whether a child runs once: then the first install is in order, too.
func (r *rollout) hasRuns() bool {
	return slices.ContainsFunc(r.ds, func(d *desired) bool { return d.child.run != nil })
}

// decideRun says what has to be done about a Job that runs once: nothing if its success is on record. The order is what
// makes it run once. A success is recorded before anything that follows is written, and a Job is created only when the
// API server, not just the cache, has no record of the value.
func (r *rollout) decideRun(ctx context.Context, d *desired, paused bool) (*write, error) {
	job := d.child.run
	jobs, err := r.jobsOf(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := r.recordSuccesses(ctx, d, jobs); err != nil {
		return nil, err
	}
	if r.runs[job.name].Find(job.id) != nil {
		r.result.Unchanged++
		return nil, r.expireJobs(ctx, d, jobs)
	}
	found, err := r.find(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := r.compare(d, found)
	if err != nil || w.action != actionCreate {
		return w, err
	}
	for _, other := range jobs {
		if revision.IsRunning(other) {
			r.result.NotReady = append(r.result.NotReady, ChildStatus{Key: d.key, Phase: d.child.phase,
				Message: fmt.Sprintf("waits for Job %s, which runs for an earlier value, to end", other.Name)})
			return nil, nil
		}
	}
	if paused {
		r.result.Paused = append(r.result.Paused, d.key)
		return nil, nil
	}
	if err := r.readRecord(ctx, job.name); err != nil {
		return nil, err
	}
	if r.runs[job.name].Find(job.id) != nil {
		r.result.Unchanged++
		return nil, nil
	}
	return w, nil
}

// keepRuns keeps the Jobs of RunOnce children during a rollback, when nothing of the plan is desired: those that run, and
// those that are not on record, as the failed ones, which must not run again by themselves. It records those that succeeded.
func (r *rollout) keepRuns(ctx context.Context) error {
	var errs []error
	for _, d := range r.ds {
		if d.child.run == nil {
			continue
		}
		r.desired.Put(d.key)
		jobs, err := r.jobsOf(ctx, d)
		if err == nil {
			err = r.recordSuccesses(ctx, d, jobs)
		}
		errs = append(errs, err)
		for _, job := range jobs {
			if mark, ok := markOf(d, job); ok && r.runs[d.child.run.name].Find(mark.ID) == nil {
				r.desired.Put(d.kind.Key(job))
			}
		}
	}
	return errors.Join(errs...)
}

// jobsOf returns the owner's Jobs of a RunOnce child, of all values, by name. Those that run are not pruned.
func (r *rollout) jobsOf(ctx context.Context, d *desired) ([]*batchv1.Job, error) {
	if err := r.observe(ctx, d.kind); err != nil {
		return nil, err
	}
	var jobs []*batchv1.Job
	for key, obj := range r.observed {
		job, ok := obj.(*batchv1.Job)
		if !ok || !metav1.IsControlledBy(job, r.owner) {
			continue
		}
		mark, marked := revision.ReadMark(job)
		if !(marked && mark.Child == d.child.run.name) && key != d.key {
			continue
		}
		jobs = append(jobs, job)
		if revision.IsRunning(job) {
			r.desired.Put(key)
		}
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	return jobs, nil
}

// markOf says which run of a child a Job is; false if the Job doesn't say.
func markOf(d *desired, job *batchv1.Job) (revision.Mark, bool) {
	if job.Name == d.key.Name {
		return revision.Mark{ID: d.child.run.id, Value: d.child.run.shown()}, true
	}
	mark, ok := revision.ReadMark(job)
	return mark, ok && mark.ID != ""
}

// withoutDeletion returns a Job as if no one were deleting it: how it ended counts all the same.
func withoutDeletion(job *batchv1.Job) *batchv1.Job {
	if job.DeletionTimestamp == nil {
		return job
	}
	alive := *job
	alive.DeletionTimestamp = nil
	return &alive
}

// recordSuccesses puts those of a child's Jobs on record that have succeeded and are not there.
func (r *rollout) recordSuccesses(ctx context.Context, d *desired, jobs []*batchv1.Job) error {
	if err := r.checkRecord(d.child.run.name); err != nil {
		return err
	}
	var succeeded []revision.Run
	for _, job := range jobs {
		mark, ok := markOf(d, job)
		if !ok {
			continue
		}
		if !readiness.Of(withoutDeletion(job)).Ready || r.runs[d.child.run.name].Find(mark.ID) != nil {
			continue
		}
		finished := ptr.Deref(job.Status.CompletionTime, *r.nowToTheSecond())
		succeeded = append(succeeded, revision.Run{ID: mark.ID, Value: mark.Value, Job: job.Name, FinishedAt: finished})
	}
	if len(succeeded) == 0 {
		return nil
	}
	slices.SortStableFunc(succeeded, func(a, b revision.Run) int { return a.FinishedAt.Compare(b.FinishedAt.Time) })
	if err := r.writeRecord(ctx, d.child.run.name, succeeded); err != nil {
		return err
	}
	for _, s := range succeeded {
		r.engine.emit(r.owner, events.Normal(events.ReasonRanOnce,
			fmt.Sprintf("Job %s has run for the value %q; it won't run for it again", s.Job, s.Value)))
	}
	return nil
}

// expireJobs gives a child's Jobs that have ended the TTL that was withheld.
func (r *rollout) expireJobs(ctx context.Context, d *desired, jobs []*batchv1.Job) error {
	ttl := d.child.run.ttl
	if ttl == nil {
		return nil
	}
	for _, job := range jobs {
		if job.Spec.TTLSecondsAfterFinished != nil || job.DeletionTimestamp != nil || revision.IsRunning(job) {
			continue
		}
		body, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": job.UID}, "spec": map[string]any{"ttlSecondsAfterFinished": *ttl},
		})
		if err != nil {
			return err
		}
		object := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		err = r.engine.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, body), client.FieldOwner(r.engine.name))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return &Error{Key: d.key, Operation: "apply", Err: err, object: job}
		}
	}
	return nil
}

// runningJob returns a Job of a RunOnce child, of whatever value, that runs or is about to; nil if there is none. A Job for
// which no child waits becomes one of what the phase waits for.
func (r *rollout) runningJob(ctx context.Context) (*ChildStatus, error) {
	for i := range r.result.NotReady {
		n := &r.result.NotReady[i]
		if d := r.desiredOf(n.Key); d != nil && d.child.run != nil && !n.Failed {
			return n, nil
		}
	}
	for _, d := range r.ds {
		if d.child.run == nil {
			continue
		}
		jobs, err := r.jobsOf(ctx, d)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(jobs, revision.IsRunning)
		if i < 0 {
			continue
		}
		key := d.kind.Key(jobs[i])
		at := slices.IndexFunc(r.result.NotReady, func(n ChildStatus) bool { return n.Key == key })
		if at < 0 {
			at = len(r.result.NotReady)
			r.result.NotReady = append(r.result.NotReady, ChildStatus{
				Key: key, Phase: r.result.Rollout.Phase, Message: "runs for an earlier value",
			})
		}
		return &r.result.NotReady[at], nil
	}
	return nil, nil
}

// ranIn says in a sentence which Jobs have run since the roll-out began, empty if none has.
func (r *rollout) ranIn(record revision.Record) string {
	var ran []store.Key
	for _, d := range r.ds {
		if d.child.run == nil || record.StartedAt == nil {
			continue
		}
		if s := r.runs[d.child.run.name].Find(d.child.run.id); s != nil && !s.FinishedAt.Before(record.StartedAt) {
			ran = append(ran, d.key)
		}
	}
	if len(ran) == 0 {
		return ""
	}
	return shorten(listed("; not undone: ", ran, func(k store.Key) string { return "Job " + k.Name + " has run" }), maxWhy)
}

// errDamagedRecord is the cause of errors about records that can't be read. Nothing runs until someone repairs them: to take
// them for empty would run again what has run.
var errDamagedRecord = errors.New("the record of what has run can't be read")

// checkRecord reports a child's record that was observed and can't be read.
func (r *rollout) checkRecord(child string) error {
	record := r.runs[child]
	if record == nil || record.Damage == nil {
		return nil
	}
	return &Error{Key: r.revisionKey(record.Object.GetName()), Operation: "read", object: record.Object, Err: fmt.Errorf(
		"annotation %s: %w: %w; repair its JSON, or delete the object to run all values of %q again",
		wellknown.AnnotationRunOnce, errDamagedRecord, record.Damage, child)}
}

// noteRecord keeps a record that was observed for the pass, and from being pruned.
func (r *rollout) noteRecord(obj client.Object) (noted bool) {
	record := revision.ReadRuns(obj)
	if record == nil {
		return false
	}
	if r.runs == nil {
		r.runs = map[string]*revision.Runs{}
	}
	r.runs[record.Child] = record
	return true
}

// readRecord reads a child's record past the cache, which may lag behind: a run that is on record must not be repeated.
func (r *rollout) readRecord(ctx context.Context, child string) error {
	k, err := r.engine.kinds.Of(&appsv1.ControllerRevision{})
	if err != nil {
		return err
	}
	found, err := r.engine.read(ctx, r.engine.live, k, r.revisionKey(revision.RunsName(r.owner, child)))
	if found != nil && metav1.IsControlledBy(found, r.owner) {
		r.noteRecord(found)
	}
	if err != nil {
		return err
	}
	return r.checkRecord(child)
}

// writeRecord puts runs on record. The record must be the one that was read, so that no run that another process has recorded
// is lost.
func (r *rollout) writeRecord(ctx context.Context, child string, succeeded []revision.Run) error {
	before := r.runs[child]
	next := before.Add(child, succeeded)
	text, err := next.Text()
	if err != nil {
		return err
	}
	if before == nil {
		next.Object, err = r.createRecord(ctx, child, text)
	} else {
		next.Object, err = r.patchRevision(ctx, before.Object, wellknown.AnnotationRunOnce, text, 0)
		if err != nil {
			err = &Error{Key: r.revisionKey(before.Object.GetName()), Operation: "apply", Err: fmt.Errorf("record of what has run: %w", err)}
		}
	}
	if err != nil {
		return err
	}
	if r.runs == nil {
		r.runs = map[string]*revision.Runs{}
	}
	r.runs[child] = next
	return nil
}

func (r *rollout) createRecord(ctx context.Context, child, text string) (client.Object, error) {
	data, err := revision.RunsData(child)
	if err != nil {
		return nil, err
	}
	object := r.newRevision(revision.RunsName(r.owner, child), data, wellknown.AnnotationRunOnce, text, 0)
	err = r.createRevision(ctx, object, func(obj client.Object) bool { return revision.ReadRuns(obj) != nil })
	if apierrors.IsConflict(err) {
		if damaged := r.readRecord(ctx, child); damaged != nil {
			return nil, damaged
		}
	}
	return object, err
}
