package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// decideRun decides whether to create a RunOnce Job: not if its success is recorded. The order ensures that it runs once. A success is
// recorded before a later phase is written, and a Job is created only if the API server, not just the cache, has no record of the
// value.
func (p *pass) decideRun(ctx context.Context, c *Child, paused bool) (found Comparison, apply bool, err error) {
	jobs, err := p.jobsOf(ctx, c)
	if err != nil {
		return found, false, err
	}
	if err := p.recordSuccesses(ctx, c, jobs); err != nil {
		return found, false, err
	}
	if p.hasRun(c.Run) {
		p.result.Unchanged++
		return found, false, p.expireJobs(ctx, c, jobs)
	}
	found, err = p.cluster.Compare(ctx, c, nil)
	if err != nil || !found.Creates {
		return found, err == nil, err
	}
	if i := slices.IndexFunc(jobs, revision.IsRunning); i >= 0 {
		p.result.NotReady = append(p.result.NotReady, ChildStatus{Key: c.Key, Phase: c.Phase,
			Message: fmt.Sprintf("waits for Job %s, which runs for an earlier value, to end", jobs[i].Name)})
		return found, false, nil
	}
	if paused {
		p.result.Paused = append(p.result.Paused, c.Key)
		return found, false, nil
	}
	if err := p.readRuns(ctx, c.Run.Child); err != nil {
		return found, false, err
	}
	if p.hasRun(c.Run) {
		p.result.Unchanged++
		return found, false, nil
	}
	return found, true, nil
}

// hasRun reports whether a success is in the records that were read.
func (p *pass) hasRun(r *JobRun) bool { return p.runs[r.Child].Find(r.ID) != nil }

// retainJobs retains the Jobs of RunOnce children during a rollback, in which the plan's objects aren't desired: running Jobs, and
// Jobs that aren't recorded, such as failed ones, which must not run again by themselves. It records those that succeeded.
func (p *pass) retainJobs(ctx context.Context) error {
	var errs []error
	for i := range p.Children {
		c := &p.Children[i]
		if c.Run == nil {
			continue
		}
		p.result.Retained = append(p.result.Retained, c.Key)
		jobs, err := p.jobsOf(ctx, c)
		if err == nil {
			err = p.recordSuccesses(ctx, c, jobs)
		}
		errs = append(errs, err)
		for _, job := range jobs {
			if mark, ok := markOf(c, job); ok && p.runs[c.Run.Child].Find(mark.ID) == nil {
				p.result.Retained = append(p.result.Retained, jobKey(job))
			}
		}
	}
	return errors.Join(errs...)
}

// jobsOf returns the owner's Jobs of a RunOnce child, of all values, by name. It retains the running ones.
func (p *pass) jobsOf(ctx context.Context, c *Child) ([]*batchv1.Job, error) {
	objects, err := p.cluster.Owned(ctx, &batchv1.Job{})
	if err != nil {
		return nil, err
	}
	var jobs []*batchv1.Job
	for _, obj := range objects {
		job, ok := obj.(*batchv1.Job)
		if !ok || !metav1.IsControlledBy(job, p.Owner) {
			continue
		}
		mark, marked := revision.ReadMark(job)
		if !(marked && mark.Child == c.Run.Child) && jobKey(job) != c.Key {
			continue
		}
		jobs = append(jobs, job)
		if revision.IsRunning(job) {
			p.result.Retained = append(p.result.Retained, jobKey(job))
		}
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	return jobs, nil
}

func jobKey(job *batchv1.Job) store.Key {
	return store.KeyOf(batchv1.SchemeGroupVersion.WithKind("Job"), job.Namespace, job.Name)
}

// markOf returns the run of a child to which a Job belongs; false if the Job has no mark.
func markOf(c *Child, job *batchv1.Job) (revision.Mark, bool) {
	if job.Name == c.Key.Name {
		return revision.Mark{ID: c.Run.ID, Value: c.Run.Shown()}, true
	}
	mark, ok := revision.ReadMark(job)
	return mark, ok && mark.ID != ""
}

// succeeded reports whether a Job has succeeded, including a terminating one.
func succeeded(job *batchv1.Job) bool {
	if job.DeletionTimestamp != nil {
		present := *job
		present.DeletionTimestamp = nil
		job = &present
	}
	return readiness.Of(job).Ready
}

// recordSuccesses records the child's Jobs that have succeeded and aren't recorded yet.
func (p *pass) recordSuccesses(ctx context.Context, c *Child, jobs []*batchv1.Job) error {
	if err := p.checkRuns(c.Run.Child); err != nil {
		return err
	}
	var news []revision.Run
	for _, job := range jobs {
		mark, ok := markOf(c, job)
		if !ok || !succeeded(job) || p.runs[c.Run.Child].Find(mark.ID) != nil {
			continue
		}
		finished := ptr.Deref(job.Status.CompletionTime, *p.nowToTheSecond())
		news = append(news, revision.Run{ID: mark.ID, Value: mark.Value, Job: job.Name, FinishedAt: finished})
	}
	if len(news) == 0 {
		return nil
	}
	slices.SortStableFunc(news, func(a, b revision.Run) int { return a.FinishedAt.Compare(b.FinishedAt.Time) })
	if err := p.writeRuns(ctx, c.Run.Child, news); err != nil {
		return err
	}
	for _, run := range news {
		job := jobs[slices.IndexFunc(jobs, func(j *batchv1.Job) bool { return j.Name == run.Job })]
		p.Emit(events.Normal(events.ReasonRanOnce,
			fmt.Sprintf("Job %s has run for the value %q; it won't run for it again", run.Job, run.Value)).About(job))
	}
	return nil
}

// expireJobs sets the withheld TTL on a child's Jobs that have ended.
func (p *pass) expireJobs(ctx context.Context, c *Child, jobs []*batchv1.Job) error {
	if c.Run.TTL == nil {
		return nil
	}
	for _, job := range jobs {
		if job.Spec.TTLSecondsAfterFinished != nil || job.DeletionTimestamp != nil || revision.IsRunning(job) {
			continue
		}
		fields := map[string]any{
			"metadata": map[string]any{"uid": job.UID}, "spec": map[string]any{"ttlSecondsAfterFinished": *c.Run.TTL},
		}
		object := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		err := p.patch(ctx, object, fields)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return &failure.Error{Key: jobKey(job), Operation: "apply", Err: err, Object: job}
		}
	}
	return nil
}

// runningJob returns a Job of a RunOnce child, of any value, that runs or is about to run; nil if there is none. If no child waits for
// the Job, the phase waits for it.
func (p *pass) runningJob(ctx context.Context) (*ChildStatus, error) {
	for i := range p.result.NotReady {
		n := &p.result.NotReady[i]
		if c := p.desired(n.Key); c != nil && c.Run != nil && !n.Failed {
			return n, nil
		}
	}
	for i := range p.Children {
		c := &p.Children[i]
		if c.Run == nil {
			continue
		}
		jobs, err := p.jobsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		running := slices.IndexFunc(jobs, revision.IsRunning)
		if running < 0 {
			continue
		}
		key := jobKey(jobs[running])
		at := slices.IndexFunc(p.result.NotReady, func(n ChildStatus) bool { return n.Key == key })
		if at < 0 {
			at = len(p.result.NotReady)
			p.result.NotReady = append(p.result.NotReady, ChildStatus{Key: key, Phase: p.result.Status.Phase, Message: "runs for an earlier value"})
		}
		return &p.result.NotReady[at], nil
	}
	return nil, nil
}

// ranIn returns a sentence that names the Jobs that have run since the roll-out began, empty if none has.
func (p *pass) ranIn(record revision.Record) string {
	var ran []store.Key
	for _, c := range p.Children {
		if c.Run == nil || record.StartedAt == nil {
			continue
		}
		if s := p.runs[c.Run.Child].Find(c.Run.ID); s != nil && !s.FinishedAt.Before(record.StartedAt) {
			ran = append(ran, c.Key)
		}
	}
	if len(ran) == 0 {
		return ""
	}
	jobs := text.List("; not undone: ", ran, func(k store.Key) string { return "Job " + k.Name + " has run" })
	return text.Shorten(jobs, text.MaxMessage)
}

// checkRuns returns an error for a child's observed record that can't be read.
func (p *pass) checkRuns(child string) error {
	record := p.runs[child]
	if record == nil || record.Damage == nil {
		return nil
	}
	err := fmt.Errorf("annotation %s: %w: %w; repair its JSON, or delete the object to run all values of %q again",
		wellknown.AnnotationRunOnce, failure.ErrDamagedRecord, record.Damage, child)
	return &failure.Error{Key: p.Objects.Key(record.Object.GetName()), Operation: "read", Err: err, Object: record.Object}
}

// noteRuns keeps an observed record for the pass.
func (p *pass) noteRuns(obj client.Object) {
	record := revision.ReadRuns(obj)
	if record == nil {
		return
	}
	p.setRuns(record)
}

func (p *pass) setRuns(record *revision.Runs) {
	if p.runs == nil {
		p.runs = map[string]*revision.Runs{}
	}
	p.runs[record.Child] = record
}

// readRuns reads a child's record past the cache, which may lag behind, because a recorded run must not be repeated.
func (p *pass) readRuns(ctx context.Context, child string) error {
	found, err := p.Objects.Find(ctx, revision.RunsName(p.Owner, child))
	if err != nil {
		return err
	}
	if found != nil && metav1.IsControlledBy(found, p.Owner) {
		p.noteRuns(found)
	}
	return p.checkRuns(child)
}

// writeRuns records runs. It writes only the version of the record that was read, so that it loses no run that another process has
// recorded.
func (p *pass) writeRuns(ctx context.Context, child string, succeeded []revision.Run) error {
	before := p.runs[child]
	next := before.Add(child, succeeded)
	annotation, err := next.Text()
	if err != nil {
		return err
	}
	if before == nil {
		next.Object, err = p.createRuns(ctx, child, annotation)
	} else {
		next.Object, err = p.patchRevision(ctx, before.Object, wellknown.AnnotationRunOnce, annotation, 0)
	}
	if err != nil {
		return err
	}
	p.setRuns(next)
	return nil
}

// createRuns creates a child's record.
func (p *pass) createRuns(ctx context.Context, child, annotation string) (client.Object, error) {
	data, err := revision.RunsData(child)
	if err != nil {
		return nil, err
	}
	object := p.Objects.New(revision.RunsName(p.Owner, child), data, wellknown.AnnotationRunOnce, annotation, 0)
	err = p.createRevision(ctx, object, func(obj client.Object) bool { return revision.ReadRuns(obj) != nil })
	if apierrors.IsConflict(err) {
		if damaged := p.readRuns(ctx, child); damaged != nil {
			return nil, damaged
		}
	}
	return object, err
}
