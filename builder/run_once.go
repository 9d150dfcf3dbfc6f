package builder

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/phases"
)

// RunOnce runs a Job to success once for each value, and never again for that value. Use it for migrations and other steps that must
// precede the rest. The child must be a *batchv1.Job, and [InPhase]. Later phases wait for its success. A first install with a RunOnce
// child goes phase by phase as well (see [rollout.Options]).
//
// The value identifies the effect of the Job, such as the version of a schema. Another value is another run. A value that ran before
// doesn't run again, also after other values: a return to an older value runs nothing. Default, for an empty value: a hash of the
// Job's pod template, so that each change of an image, a variable or a limit is another run. Prefer a value.
//
// The Job's name is <name>-<hash>, from the child's name and the value. The builder creates it once and never changes it. It records
// its success in the owner's ControllerRevision <owner>-<name>-<hash>, before it writes later phases. From then on the Job may be
// deleted. The builder removes the Job's ttlSecondsAfterFinished until the success is recorded, so that a Job that ended while the
// operator was down still exists. The record has the last 100 values.
//
//   - A failed Job stops later phases: the conditions have the reason RolloutHalted, and Stalled is True. The builder doesn't retry
//     it beyond its backoffLimit. Delete the failed Job to run it again with its present template, or set another value.
//   - If someone deletes a Job before its success is recorded, it runs again. So it runs to its end at least once, and to success
//     exactly once, unless it is deleted after its success and before a pass has observed that. Make the Job repeatable.
//   - Runs of one child don't overlap: a Job of another value waits until the condition Complete or Failed of the earlier one is
//     True. The exception is a Job that someone deletes in the background, the default of kubectl delete job: the Job is gone while
//     its pods still terminate. Delete with --cascade=foreground to prevent that.
//   - A rollback (see [rollout.Options]) neither interrupts a running Job nor undoes or repeats one that ran or failed. The condition
//     and the event name the Jobs that ran in the failed roll-out.
//   - A plan without the child lets the builder prune its Jobs, including one that has succeeded and isn't recorded yet. Keep the
//     child in the plan until the builder has written later phases.
//   - Leader election limits who creates the Job. A former leader that stalls between its read of the record and its creation of the
//     Job can repeat a run that another manager has recorded in between.
//
// To run a value again, delete the ControllerRevision of the record, or edit its annotation. If the annotation isn't valid JSON, the
// pass fails with a terminal error (see [IsTerminal]) that names the record, and nothing runs until someone repairs or deletes it.
// Other options about the retention or update of a child are [ErrMisuse] beside it.
func RunOnce(value string) ChildOption {
	return childOption(func(c *Child) { c.run = &phases.JobRun{Value: value} })
}

// checkRun returns the errors of a RunOnce child.
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

// asRun returns the Job of a RunOnce child's value, with CreateOnly.
func (c Child) asRun() (Child, error) {
	if err := c.checkRun(); err != nil {
		return c, err
	}
	job, run, err := phases.RunOf(c.desired.Object.(*batchv1.Job), c.run.Value)
	if err != nil {
		return c, err
	}
	c.desired.Object, c.desired.CreateOnly, c.desired.ReadyWhen, c.run = job, true, run.Readiness, run
	return c, nil
}
