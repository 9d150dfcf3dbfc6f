package builder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// hasRuns reports whether a child runs once: then the first install is in order, too.
func (r *rollout) hasRuns() bool {
	return slices.ContainsFunc(r.ds, func(d *desired) bool { return d.child.run != nil })
}

// decideRun says what has to be done about a Job that runs once: nothing if its success is on record. The order is what
// makes it run once. A success is recorded before anything that follows is written, and a Job is created only when the
// API server, not just the cache, has no record of the value.
func (r *rollout) decideRun(ctx context.Context, d *desired, hold bool) (*write, error) {
	job := d.child.run
	jobs, err := r.jobsOf(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := r.recordSuccesses(ctx, d, jobs); err != nil {
		return nil, err
	}
	if r.runs[job.name].find(job.id) != nil {
		r.result.Unchanged++
		return nil, r.expireJobs(ctx, d, jobs)
	}
	found, err := r.find(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := r.compare(d, found)
	if err != nil || w.verdict != verdictCreate {
		return w, err
	}
	for _, other := range jobs {
		if isRunning(other) {
			r.result.NotReady = append(r.result.NotReady, NotReady{Key: d.key, Phase: d.child.phase,
				Why: fmt.Sprintf("waits for Job %s, which runs for an earlier value, to end", other.Name)})
			return nil, nil
		}
	}
	if hold {
		r.result.Held = append(r.result.Held, d.key)
		return nil, nil
	}
	if err := r.readRecord(ctx, job.name); err != nil {
		return nil, err
	}
	if r.runs[job.name].find(job.id) != nil {
		r.result.Unchanged++
		return nil, nil
	}
	return w, nil
}

// keepRuns keeps the Jobs of RunOnce children during a rollback, for which nothing of the plan is wanted: those that run, and
// those that are not on record, as the failed ones, which must not run again by themselves. It records those that succeeded.
func (r *rollout) keepRuns(ctx context.Context) error {
	var errs []error
	for _, d := range r.ds {
		if d.child.run == nil {
			continue
		}
		r.wanted.Put(d.key)
		jobs, err := r.jobsOf(ctx, d)
		if err == nil {
			err = r.recordSuccesses(ctx, d, jobs)
		}
		errs = append(errs, err)
		for _, job := range jobs {
			if mark, ok := markOf(d, job); ok && r.runs[d.child.run.name].find(mark.ID) == nil {
				r.wanted.Put(d.kind.key(job))
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
	for key, obj := range r.seen {
		job, ok := obj.(*batchv1.Job)
		if !ok || !metav1.IsControlledBy(job, r.owner) {
			continue
		}
		var mark runMark
		ours := json.Unmarshal([]byte(job.Annotations[AnnotationRunOnce]), &mark) == nil && mark.Child == d.child.run.name
		if !ours && key != d.key {
			continue
		}
		jobs = append(jobs, job)
		if isRunning(job) {
			r.wanted.Put(key)
		}
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	return jobs, nil
}

// isRunning reports whether a Job may have pods: until it is Complete or Failed. The conditions FailureTarget and
// SuccessCriteriaMet come while the pods still terminate.
func isRunning(job *batchv1.Job) bool {
	return !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// markOf says which run of a child a Job is; false if the Job doesn't say.
func markOf(d *desired, job *batchv1.Job) (runMark, bool) {
	if job.Name == d.key.Name {
		return runMark{ID: d.child.run.id, Value: d.child.run.shown()}, true
	}
	var mark runMark
	err := json.Unmarshal([]byte(job.Annotations[AnnotationRunOnce]), &mark)
	return mark, err == nil && mark.ID != ""
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
	var succeeded []runResult
	for _, job := range jobs {
		mark, ok := markOf(d, job)
		if !ok {
			continue
		}
		if readiness.Of(withoutDeletion(job)).State != readiness.Ready || r.runs[d.child.run.name].find(mark.ID) != nil {
			continue
		}
		finished := ptr.Deref(job.Status.CompletionTime, *r.nowToTheSecond())
		succeeded = append(succeeded, runResult{ID: mark.ID, Value: mark.Value, Job: job.Name, FinishedAt: finished})
	}
	if len(succeeded) == 0 {
		return nil
	}
	slices.SortStableFunc(succeeded, func(a, b runResult) int { return a.FinishedAt.Compare(b.FinishedAt.Time) })
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
		if job.Spec.TTLSecondsAfterFinished != nil || job.DeletionTimestamp != nil || isRunning(job) {
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
func (r *rollout) runningJob(ctx context.Context) (*NotReady, error) {
	for i := range r.result.NotReady {
		n := &r.result.NotReady[i]
		if d := r.wantedAs(n.Key); d != nil && d.child.run != nil && !n.Failed {
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
		i := slices.IndexFunc(jobs, isRunning)
		if i < 0 {
			continue
		}
		key := d.kind.key(jobs[i])
		at := slices.IndexFunc(r.result.NotReady, func(n NotReady) bool { return n.Key == key })
		if at < 0 {
			at = len(r.result.NotReady)
			r.result.NotReady = append(r.result.NotReady, NotReady{Key: key, Phase: r.result.Rollout.Phase, Why: "runs for an earlier value"})
		}
		return &r.result.NotReady[at], nil
	}
	return nil, nil
}

// ranIn says in a sentence which Jobs have run since the roll-out began, empty if none has.
func (r *rollout) ranIn(record rolloutRecord) string {
	var ran []store.Key
	for _, d := range r.ds {
		if d.child.run == nil || record.StartedAt == nil {
			continue
		}
		if s := r.runs[d.child.run.name].find(d.child.run.id); s != nil && !s.FinishedAt.Before(record.StartedAt) {
			ran = append(ran, d.key)
		}
	}
	if len(ran) == 0 {
		return ""
	}
	return shorten(listed("; not undone: ", ran, func(k store.Key) string { return "Job " + k.Name + " has run" }), maxWhy)
}
