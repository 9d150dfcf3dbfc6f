package builder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// migratingTown is a town with a Job that runs once for a schema, in the first phase.
type migratingTown struct {
	*town
	schema string
}

func newMigratingTown(t *testing.T) *migratingTown {
	w := &migratingTown{newTown(t), "s1"}
	w.change = func(b *Builder) {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "migrate"}}
		job.Spec.Template.Spec = corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "migrate", Image: "app:1"}},
		}
		b.Object(job, RunOnce(w.schema), InPhase("controller"))
	}
	return w
}

func (w *migratingTown) jobs() []batchv1.Job {
	var list batchv1.JobList
	require.NoError(w.t, w.e.client.List(w.t.Context(), &list))
	return list.Items
}

// deleteJobs deletes all Jobs as kubectl does.
func (w *migratingTown) deleteJobs() {
	for _, job := range w.jobs() {
		require.NoError(w.t, w.e.client.Delete(w.t.Context(), &job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
}

// end ends the Jobs that run.
func (w *migratingTown) end(how batchv1.JobConditionType) {
	for _, job := range w.jobs() {
		if len(job.Status.Conditions) > 0 {
			continue
		}
		job.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "no luck"}}
		finished := metav1.NewTime(w.now)
		job.Status.CompletionTime = &finished
		require.NoError(w.t, w.e.client.Status().Update(w.t.Context(), &job))
	}
}

// installed gets the town as far as the first install.
func (w *migratingTown) installed() {
	w.pass()
	w.end(batchv1.JobComplete)
	for range phaseNames {
		w.pass()
		w.settle(w.there()...)
	}
	require.Equal(w.t, rollout.Completed, w.pass().Rollout.State)
	require.Equal(w.t, "v1 v1 v1", w.running())
}

func TestAFailedRunHaltsTheFirstInstall(t *testing.T) {
	w := newMigratingTown(t)
	res := w.pass()
	assert.Equal(t, rollout.Installing, res.Rollout.State)
	assert.Equal(t, "controller", res.Rollout.Phase)
	assert.Equal(t, "v1 - -", w.running())
	w.settle("controller")
	var conditions []metav1.Condition
	w.pass().SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, events.ReasonRollingOut, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message, "phase controller: waiting for Job.batch default/migrate-")

	w.end(batchv1.JobFailed)
	res = w.pass()
	require.NotNil(t, res.rolloutFailure())
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message,
		`the run for the value "s1" failed: BackoffLimitExceeded: no luck; delete this Job to run it again`)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status, "Stalled")
	assert.Contains(t, w.told, "RolloutHalted")
	assert.Equal(t, "v1 - -", w.running())
	w.deleteJobs()
	res = w.pass()
	assert.Nil(t, res.rolloutFailure())
	assert.Len(t, w.jobs(), 1)
}

func TestRollbackPastARun(t *testing.T) {
	w := newMigratingTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.installed()
	first := w.jobs()[0].Name

	w.schema = "s2"
	w.now = w.now.Add(time.Minute)
	w.want("v2")
	w.pass()
	w.settle("controller")
	w.end(batchv1.JobComplete)
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running())
	w.now = w.now.Add(patience)
	res := w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Regexp(t, `; not undone: Job migrate-[0-9a-f]{10} has run$`, res.Rollout.Message)
	assert.NotContains(t, res.Rollout.Message, first)
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	w.deleteJobs()
	w.settle(phaseNames...)
	w.pass()
	assert.Empty(t, w.jobs(), "neither runs again")
	w.want("v3")
	w.pass()
	assert.Empty(t, w.jobs(), "s2 has run")
	assert.Equal(t, "v3 v1 v1", w.running())
}

func TestRollbackWaitsForARun(t *testing.T) {
	w := newMigratingTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.installed()
	w.schema = "s2"
	w.want("v2")
	w.pass()
	w.settle("controller")
	w.now = w.now.Add(patience)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Contains(t, conditions[0].Message, "a rollback is due, and waits for this Job to end")
	assert.Zero(t, res.RequeueAfter)
	w.end(batchv1.JobFailed)
	assert.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	assert.Contains(t, res.Rollout.Message, `the run for the value "s2" failed`)
}

// pruned makes the town prune Jobs, too.
func (w *migratingTown) pruned() {
	change := w.change
	w.change = func(b *Builder) { change(b); b.Prune(&batchv1.Job{}) }
}

// job returns how the Job of the schema ended, "-" if it is not there.
func (w *migratingTown) job(schema string) string {
	for _, job := range w.jobs() {
		if !strings.Contains(job.Annotations[wellknown.AnnotationRunOnce], `"value":"`+schema+`"`) {
			continue
		}
		if len(job.Status.Conditions) == 0 {
			return "runs"
		}
		return string(job.Status.Conditions[0].Type)
	}
	return "-"
}

func TestRollbackWaitsForARunOfAnotherValue(t *testing.T) {
	w := newMigratingTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.want("v2")
	w.pass()
	require.Equal(t, "runs", w.job("s2"))
	w.schema = "s1"
	w.want("v3")
	w.pass()
	w.now = w.now.Add(patience)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Regexp(t, `Job.batch default/migrate-[0-9a-f]{10}: .*; a rollback is due, and waits for this Job to end`, conditions[0].Message)
	w.fail("controller")
	res = w.pass()
	require.NotNil(t, res.rolloutFailure())
	assert.Regexp(t, `; a rollback is due, and waits for Job migrate-[0-9a-f]{10} to end`, res.rolloutFailure().Message)
	assert.Equal(t, "runs", w.job("s2"))

	w.end(batchv1.JobComplete)
	assert.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	w.settle(phaseNames...)
	w.pass()
	w.schema = "s2"
	w.want("v4")
	w.pass()
	assert.NotEqual(t, "runs", w.job("s2"), "it has run")
}

func TestRollbackKeepsAFailedRun(t *testing.T) {
	w := newMigratingTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.want("v2")
	w.pass()
	w.settle("controller")
	w.end(batchv1.JobFailed)
	w.now = w.now.Add(patience)
	require.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	w.settle(phaseNames...)
	w.pass()
	require.Equal(t, "v1 v1 v1", w.running())
	assert.Equal(t, "Failed", w.job("s2"))

	w.want("v3")
	res := w.pass()
	assert.Equal(t, "Failed", w.job("s2"), "it isn't tried again by itself")
	require.NotNil(t, res.rolloutFailure())
	assert.Contains(t, res.rolloutFailure().Message, `the run for the value "s2" failed`)
}

// A Job that is in none of the expected states while it is rolled back, since someone works on it, stays and is recorded.
func TestRunsDuringARollback(t *testing.T) {
	w := newMigratingTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.pruned()
	w.installed()
	w.schema = "s2"
	w.want("v2")
	w.pass()
	w.end(batchv1.JobFailed)
	w.now = w.now.Add(patience)
	require.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	for _, job := range w.jobs() {
		job.Status.Conditions = nil
		require.NoError(t, w.e.client.Status().Update(t.Context(), &job))
	}
	w.settle(phaseNames...)
	w.pass()
	w.pass()
	assert.Equal(t, "runs", w.job("s2"))
	w.end(batchv1.JobComplete)
	w.pass()
	w.deleteJobs()
	w.want("v3")
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
			w := newTown(t)
			w.options = c.options
			w.options.InstallInOrder = true
			assert.Equal(t, "controller", w.pass().Rollout.Phase)
			assert.Equal(t, "v1 - -", w.running())
			w.now = w.now.Add(patience)
			res := w.pass()
			if c.why == "" {
				assert.Nil(t, res.rolloutFailure())
			} else {
				require.NotNil(t, res.rolloutFailure())
				assert.Contains(t, res.rolloutFailure().Message, c.why)
			}
			w.want("v2")
			w.pass()
			assert.Equal(t, "v2 - -", w.running(), "another wish before the end")
			for _, phase := range phaseNames {
				w.settle(phase)
				w.pass()
			}
			assert.Equal(t, "v2 v2 v2", w.running())
			res = w.pass()
			assert.Equal(t, rollout.Completed, res.Rollout.State)
			assert.Len(t, w.revisions(), 1)
			w.pass()
			assert.Empty(t, w.writes)
		})
	}
}

// there lists the Deployments that exist.
func (w *migratingTown) there() (names []string) {
	for i, image := range strings.Fields(w.running()) {
		if image != "-" {
			names = append(names, phaseNames[i])
		}
	}
	return names
}

func TestDiffOfARunWritesNothing(t *testing.T) {
	w := newMigratingTown(t)
	diff, err := w.builder().Diff(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, diff)
	assert.Empty(t, w.jobs())
	w.pass()
	w.end(batchv1.JobComplete)
	w.writes, w.told = nil, nil
	_, err = w.builder().Diff(t.Context())
	require.NoError(t, err)
	assert.Len(t, w.revisions(), 1, "nothing is put on record")
	assert.Empty(t, w.told)
}
