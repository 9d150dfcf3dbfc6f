package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// migratingWorld is a phasedWorld with a Job that runs once for a schema, in the first phase.
type migratingWorld struct {
	*phasedWorld
	schema string
}

func newMigratingWorld(t *testing.T) *migratingWorld {
	w := &migratingWorld{newPhasedWorld(t), "s1"}
	w.more = func(b *builder.Builder) {
		job := newJob("migrate")
		job.Spec.BackoffLimit = new(int32(0))
		b.Object(job, builder.RunOnce(w.schema), builder.InPhase("controller"))
	}
	return w
}

func (w *migratingWorld) jobs() []batchv1.Job {
	var list batchv1.JobList
	require.NoError(w.t, w.others.List(w.t.Context(), &list))
	return list.Items
}

func (w *migratingWorld) deleteJobs() {
	for _, job := range w.jobs() {
		w.delete(&job)
	}
}

// end lets the running Jobs end with an exit code.
func (w *migratingWorld) end(code int32) {
	w.t.Helper()
	require.NoError(w.t, w.Script("migrate-*", world.Script{Ends: true, ExitCode: code}))
	w.rollOut("migrate")
	require.NoError(w.t, w.Script("migrate-*", world.Script{}))
}

// installed completes the first install.
func (w *migratingWorld) installed() {
	w.pass()
	w.end(0)
	for range phaseNames {
		w.pass()
		w.rollOut(phaseNames...)
	}
	require.Equal(w.t, rollout.Completed, w.pass().Rollout.State)
	require.Equal(w.t, "v1 v1 v1", w.deployed())
}

func TestAFailedRunHaltsTheFirstInstall(t *testing.T) {
	w := newMigratingWorld(t)
	res := w.pass()
	assert.Equal(t, rollout.Installing, res.Rollout.State)
	assert.Equal(t, "controller", res.Rollout.Phase)
	assert.Equal(t, "v1 - -", w.deployed())
	w.rollOut("controller")
	var conditions []metav1.Condition
	w.pass().SetConditions(&conditions, 1, nil, w.Now())
	assert.Equal(t, events.ReasonRollingOut, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message, "phase controller: waiting for Job.batch default/migrate-")

	w.end(1)
	res = w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message,
		`the run for the value "s1" failed: BackoffLimitExceeded: Job has reached the specified backoff limit; delete this Job to run it again`)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status, "Stalled")
	assert.Contains(t, w.events, "RolloutHalted")
	assert.Equal(t, "v1 - -", w.deployed())
	w.deleteJobs()
	res = w.pass()
	assert.Nil(t, builder.RolloutFailure(res))
	assert.Len(t, w.jobs(), 1)
}

func TestRollbackPastARun(t *testing.T) {
	w := newMigratingWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.installed()
	first := w.jobs()[0].Name

	w.schema = "s2"
	w.step(time.Minute)
	w.desire("v2")
	w.pass()
	w.rollOut("controller")
	w.end(0)
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed())
	w.step(patience)
	res := w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Regexp(t, `; not undone: Job migrate-[0-9a-f]{10} has run$`, res.Rollout.Message)
	assert.NotContains(t, res.Rollout.Message, first)
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	w.deleteJobs()
	w.rollOut(phaseNames...)
	w.pass()
	assert.Empty(t, w.jobs(), "neither runs again")
	w.desire("v3")
	w.pass()
	assert.Empty(t, w.jobs(), "s2 has run")
	assert.Equal(t, "v3 v1 v1", w.deployed())
}

func TestRollbackWaitsForARun(t *testing.T) {
	w := newMigratingWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.installed()
	w.schema = "s2"
	w.desire("v2")
	w.pass()
	w.rollOut("controller")
	w.step(patience)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Contains(t, conditions[0].Message, "a rollback is due, and waits for this Job to end")
	assert.Zero(t, res.RequeueAfter)
	w.end(1)
	assert.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	assert.Contains(t, res.Rollout.Message, `the run for the value "s2" failed`)
}

// pruned makes the plan prune Jobs, too.
func (w *migratingWorld) pruned() {
	more := w.more
	w.more = func(b *builder.Builder) { more(b); b.Prune(&batchv1.Job{}) }
}

// job returns the last condition of the Job of a schema, "runs" for none, and "-" if the Job doesn't exist.
func (w *migratingWorld) job(schema string) string {
	for _, job := range w.jobs() {
		if !strings.Contains(job.Annotations[wellknown.AnnotationRunOnce], `"value":"`+schema+`"`) {
			continue
		}
		if n := len(job.Status.Conditions); n > 0 {
			return string(job.Status.Conditions[n-1].Type)
		}
		return "runs"
	}
	return "-"
}

func TestRollbackWaitsForARunOfAnotherValue(t *testing.T) {
	w := newMigratingWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.desire("v2")
	w.pass()
	require.Equal(t, "runs", w.job("s2"))
	w.schema = "s1"
	w.desire("v3")
	w.pass()
	w.step(patience)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Regexp(t, `Job.batch default/migrate-[0-9a-f]{10}: .*; a rollback is due, and waits for this Job to end`, conditions[0].Message)
	w.fail("controller")
	res = w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Regexp(t, `; a rollback is due, and waits for Job migrate-[0-9a-f]{10} to end`, builder.RolloutFailure(res).Message)
	assert.Equal(t, "runs", w.job("s2"))

	w.end(0)
	assert.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	w.rollOut(phaseNames...)
	w.pass()
	w.schema = "s2"
	w.desire("v4")
	w.pass()
	assert.NotEqual(t, "runs", w.job("s2"), "it has run")
}

func TestRollbackKeepsAFailedRun(t *testing.T) {
	w := newMigratingWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.desire("v2")
	w.pass()
	w.rollOut("controller")
	w.end(1)
	w.step(patience)
	require.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	w.rollOut(phaseNames...)
	w.pass()
	require.Equal(t, "v1 v1 v1", w.deployed())
	assert.Equal(t, "Failed", w.job("s2"))

	w.desire("v3")
	res := w.pass()
	assert.Equal(t, "Failed", w.job("s2"), "it isn't tried again by itself")
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Contains(t, builder.RolloutFailure(res).Message, `the run for the value "s2" failed`)
}

// A Job that is in none of the expected states while it is rolled back, since someone works on it, stays and is recorded.
func TestRunsDuringARollback(t *testing.T) {
	w := newMigratingWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.desire("v2")
	w.pass()
	w.end(1)
	w.step(patience)
	require.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	edit := func(conditions ...batchv1.JobCondition) {
		for _, job := range w.jobs() {
			job.Status.Conditions = conditions
			require.NoError(t, w.others.Status().Update(t.Context(), &job))
		}
	}
	edit()
	w.rollOut(phaseNames...)
	w.pass()
	w.pass()
	assert.Equal(t, "runs", w.job("s2"))
	edit(batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})
	w.pass()
	w.deleteJobs()
	w.desire("v3")
	w.pass()
	assert.Empty(t, w.jobs(), "s2 is on record")
}

func TestInstallInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		options rollout.Options
		why     string
	}{
		"wait":     {rollout.Options{}, ""},
		"alert":    {rollout.Options{AlertAfter: patience}, "not ready after 5m0s: "},
		"rollback": {rollout.Options{RollbackAfter: patience}, "nothing was completed before, to which it could be rolled back"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPhasedWorld(t)
			w.options = c.options
			w.options.InstallInOrder = true
			assert.Equal(t, "controller", w.pass().Rollout.Phase)
			assert.Equal(t, "v1 - -", w.deployed())
			w.step(patience)
			res := w.pass()
			if c.why == "" {
				assert.Nil(t, builder.RolloutFailure(res))
			} else {
				require.NotNil(t, builder.RolloutFailure(res))
				assert.Contains(t, builder.RolloutFailure(res).Message, c.why)
			}
			w.desire("v2")
			w.pass()
			assert.Equal(t, "v2 - -", w.deployed(), "another wish before the end")
			for _, phase := range phaseNames {
				w.rollOut(phase)
				w.pass()
			}
			assert.Equal(t, "v2 v2 v2", w.deployed())
			res = w.pass()
			assert.Equal(t, rollout.Completed, res.Rollout.State)
			assert.Len(t, w.revisions(), 1)
			w.pass()
			assert.Empty(t, w.writes)
		})
	}
}

func TestDiffOfARunWritesNothing(t *testing.T) {
	w := newMigratingWorld(t)
	diff, err := w.builder().Diff(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, diff)
	assert.Empty(t, w.jobs())
	w.pass()
	w.end(0)
	w.writes, w.events = nil, nil
	_, err = w.builder().Diff(t.Context())
	require.NoError(t, err)
	assert.Len(t, w.revisions(), 1, "nothing is put on record")
	assert.Empty(t, w.events)
}
