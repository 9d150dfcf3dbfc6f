package builder

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/rollout"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/internal/wellknown"
)

// RunOnce runs a Job to success once for each value, and never again for that value. It is for migrations and other
// steps that must come before what follows them. The child must be a *batchv1.Job, and [InPhase]: what is in later
// phases waits for its success, at the first install too, which with a RunOnce child goes phase by phase (see
// [RolloutOptions]).
//
// The value says what the Job brings about, such as the version of a schema. Another value is another run. A value that
// ran before, also before others, does not run again: to return to an older value runs nothing. Empty: the value is a
// hash of the Job's pod template, so that each change of an image, a variable or a limit is another run; prefer a value.
//
// The Job is called <name>-<hash>, of the child's name and the value. It is created once and never changed. Its success
// is put on record, in a ControllerRevision <owner>-<name>-<hash> of the owner, before anything that follows is written.
// From then on the Job may go: its ttlSecondsAfterFinished is withheld until the success is on record, so that a Job that
// ended while the operator was down is still there. The record keeps the last 100 values.
//
//   - A failed Job halts what follows: the conditions say RolloutHalted, Stalled and why. It is not tried again by itself,
//     beyond its backoffLimit. Delete the failed Job to run it again, with its present template, or give another value.
//   - A Job that someone deletes before its success is on record runs again: it runs at least once to its end, and to
//     success exactly once, unless it is deleted after its success and before a pass has seen that. Write it so that it can
//     be repeated.
//   - Runs of one child don't overlap: with another value, a Job of an earlier one is waited for until its condition Complete
//     or Failed is True. The exception is a Job that someone deletes in the background, the default of kubectl delete job: the
//     Job is gone while its pods still terminate. Delete with --cascade=foreground to rule that out.
//   - A rollback (see [RolloutOptions]) neither interrupts a running Job nor undoes or repeats one that ran or failed; the condition
//     and the event name those that ran in the roll-out that is rolled back.
//   - A plan that leaves the child out lets its Jobs be pruned, also one that has succeeded and is not on record yet: keep the
//     child in the plan until what follows it is written.
//   - Leader election bounds who creates the Job: a former leader that stalls between its reading of the record and its
//     creation of the Job can repeat a run that another manager has recorded in between.
//
// To run a value once more, delete the ControllerRevision of the record, or edit its annotation. A record whose annotation
// can't be read as JSON is a terminal error (see [IsTerminal]) that names it, and nothing runs until it is repaired or deleted.
// Other options that say how a child is kept are [ErrMisuse] beside it.
func RunOnce(value string) ChildOption { return runOnce(value) }

type runOnce string

func (value runOnce) applyToChild(c *Child) { c.run = &rollout.JobRun{Value: string(value)} }

// checkRun reports what is wrong with a RunOnce child.
func (c Child) checkRun() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: RunOnce %s: %s", ErrMisuse, nameOf(c.desired.Object), fmt.Sprintf(format, args...))
	}
	switch _, ok := c.desired.Object.(*batchv1.Job); {
	case kinds.IsNil(c.desired.Object):
		return wrong("the object is nil; give a *batchv1.Job")
	case !ok:
		return wrong("is a %T; give a *batchv1.Job", c.desired.Object)
	case c.desired.Object.GetName() == "":
		return wrong("metadata.name is empty; give a fixed name")
	case c.desired.Phase == "":
		return wrong("is in no phase; add InPhase: what is in later phases waits for it")
	case c.desired.Options != nil, c.desired.CreateOnly, c.desired.ReadyWhen != nil, c.desired.CrossNamespace:
		return wrong("has another option; of the options of a child only InPhase can be beside RunOnce")
	default:
		return nil
	}
}

// asRun returns the child that a RunOnce child comes to: the Job of its value, created once.
func (c Child) asRun() (Child, error) {
	if err := c.checkRun(); err != nil {
		return c, err
	}
	job := c.desired.Object.(*batchv1.Job).DeepCopy()
	run := rollout.JobRun{Value: c.run.Value, Child: job.Name, TTL: job.Spec.TTLSecondsAfterFinished}
	if run.Value == "" {
		fields, err := payload.Of(job, batchv1.SchemeGroupVersion.WithKind("Job"))
		if err != nil {
			return c, fmt.Errorf("%w: %w", ErrMisuse, err)
		}
		spec, _ := fields["spec"].(map[string]any)
		template, _ := spec["template"].(map[string]any)
		if run.Value, err = payload.Digest(template); err != nil {
			return c, fmt.Errorf("%w: %w", ErrMisuse, err)
		}
	}
	run.ID = revision.RunID(run.Child, run.Value)
	mark, err := revision.Mark{Child: run.Child, Value: run.Shown(), ID: run.ID}.Text()
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	job.Name = revision.JobName(job.Name, run.ID)
	payload.SetAnnotation(job, wellknown.AnnotationRunOnce, mark)
	job.Spec.TTLSecondsAfterFinished = nil
	c.desired.Object, c.desired.CreateOnly, c.run = job, true, &run
	c.desired.ReadyWhen = func(obj client.Object) readiness.Status { return readinessOfRun(&run, obj) }
	return c, nil
}

// readinessOfRun says of a Job what its own status doesn't: it is ready only once its success is on record.
func readinessOfRun(run *rollout.JobRun, obj client.Object) readiness.Status {
	own := readiness.Of(obj)
	switch {
	case own.Ready:
		return readiness.Status{Message: fmt.Sprintf("has run for the value %q, which is not on record yet", run.Shown())}
	case own.Failed:
		return readiness.Status{Failed: true, Message: fmt.Sprintf("the run for the value %q failed: %s; delete this Job to run it again",
			run.Shown(), text.Shorten(own.Message, text.MaxMessage/2))}
	}
	return own
}

// checkRepeated refuses a Job in a phase that would run again and again: deleted by its TTL, it would be recreated.
func (c Child) checkRepeated() error {
	if c.run != nil || c.desired.Phase == "" {
		return nil
	}
	ttl := false
	switch obj := c.desired.Object.(type) {
	case *batchv1.Job:
		ttl = obj.Spec.TTLSecondsAfterFinished != nil
	case *unstructured.Unstructured:
		if obj.GetKind() == "Job" && inventory.GroupOf(obj.GetAPIVersion()) == batchv1.GroupName {
			_, ttl, _ = unstructured.NestedFieldNoCopy(obj.Object, "spec", "ttlSecondsAfterFinished")
		}
	}
	if !ttl {
		return nil
	}
	return fmt.Errorf("%w: %s is in phase %q and has spec.ttlSecondsAfterFinished: it would be deleted, put back and run again for ever; "+
		"add RunOnce(value) to run it once for each value, or leave the TTL out", ErrMisuse, nameOf(c.desired.Object), c.desired.Phase)
}
