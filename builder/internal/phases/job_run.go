package phases

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// JobRun is one run of a RunOnce child: its Job runs for one value.
type JobRun struct {
	Child string // the name of the child, as given
	Value string
	ID    string // of child and value
	TTL   *int32 // the Job gets it after its success is recorded
}

// RunOf returns the run of a RunOnce child for a value, and its Job, a changed copy of the given one. An empty value stands for a hash of
// the Job's pod template. The Job has no TTL until its success is recorded.
func RunOf(child *batchv1.Job, value string) (*batchv1.Job, *JobRun, error) {
	job := child.DeepCopy()
	run := &JobRun{Value: value, Child: job.Name, TTL: job.Spec.TTLSecondsAfterFinished}
	if run.Value == "" {
		fields, err := payload.Of(job, batchv1.SchemeGroupVersion.WithKind("Job"))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", failure.ErrMisuse, err)
		}
		spec, _ := fields["spec"].(map[string]any)
		template, _ := spec["template"].(map[string]any)
		if run.Value, err = payload.Digest(template); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", failure.ErrMisuse, err)
		}
	}
	run.ID = revision.RunID(run.Child, run.Value)
	mark, err := revision.Mark{Child: run.Child, Value: run.Shown(), ID: run.ID}.Text()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", failure.ErrMisuse, err)
	}
	job.Name = revision.JobName(job.Name, run.ID)
	payload.SetAnnotation(job, wellknown.AnnotationRunOnce, mark)
	job.Spec.TTLSecondsAfterFinished = nil
	return job, run, nil
}

// Readiness extends the readiness of the run's Job: the Job is ready only when its success is recorded.
func (r *JobRun) Readiness(job client.Object) readiness.Status {
	own := readiness.Of(job)
	switch {
	case own.Ready:
		return readiness.Status{Message: fmt.Sprintf("has run for the value %q, which is not on record yet", r.Shown())}
	case own.Failed:
		return readiness.Status{Failed: true, Message: fmt.Sprintf("the run for the value %q failed: %s; delete this Job to run it again",
			r.Shown(), text.Shorten(own.Message, text.MaxMessage/2))}
	}
	return own
}

// RunsRepeatedly reports whether an object is a Job that would run repeatedly in a phase: its TTL deletes it, and the next pass would
// recreate it.
func RunsRepeatedly(obj client.Object) bool {
	switch obj := obj.(type) {
	case *batchv1.Job:
		return obj.Spec.TTLSecondsAfterFinished != nil
	case *unstructured.Unstructured:
		if obj.GetKind() == "Job" && inventory.GroupOf(obj.GetAPIVersion()) == batchv1.GroupName {
			_, ttl, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "ttlSecondsAfterFinished")
			return ttl
		}
	}
	return false
}

// Shown returns the value, shortened, for people and for the record. The ID identifies the whole value.
func (r *JobRun) Shown() string { return text.Shorten(r.Value, 64) }

// Line returns the run's line in the hash of a revision.
func (r *JobRun) Line(job store.Key) string { return revision.RunLine(job, "run "+r.ID) }

// Hash returns a hash that distinguishes the run from others of its child in the memory of an engine.
func (r *JobRun) Hash() (uint64, bool) {
	n, err := strconv.ParseUint(r.ID, 16, 64)
	return n, err == nil
}
