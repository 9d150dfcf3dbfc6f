package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/wellknown"
)

// migrating plans a ConfigMap, a Job that runs once for the owner's annotation schema, and a Deployment of its image.
func migrating(owner *appsv1.Deployment, _ builder.View) ownerPlan {
	web := newOwner()
	web.ObjectMeta = metav1.ObjectMeta{Name: "web"}
	web.Spec.Template.Spec.Containers[0].Image = "web:" + owner.Annotations["image"]
	migrate := newJob("migrate")
	migrate.Spec.TTLSecondsAfterFinished, migrate.Spec.BackoffLimit = ptr.To[int32](5), ptr.To[int32](0)
	p := ownerPlan{
		Rollout: rollout.Options{Phases: []string{"migrate", "serve"}}, Prune: []client.Object{&batchv1.Job{}},
		Children: []builder.Child{
			builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}}),
			builder.Want(migrate, builder.RunOnce(owner.Annotations["schema"]), builder.InPhase("migrate")),
			builder.Want(web, builder.InPhase("serve")),
		},
	}
	if owner.Annotations["rollback"] != "" {
		p.Rollout.RollbackAfter = time.Minute
	}
	return p
}

func ownsMigration(o *operator) {
	o.Owns(&batchv1.Job{}).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Owns(&appsv1.ControllerRevision{})
}

// migration is a stage whose owner says which schema and image it wants.
type migration struct{ *stage }

func migrate(t *testing.T) *migration {
	m := &migration{perform(t, migrating, ownsMigration, newNode("n1"))}
	m.want("schema", "v1", "image", "v1")
	return m
}

func (m *migration) want(pairs ...string) {
	owner := get(m.stage, newOwner())
	if owner.Annotations == nil {
		owner.Annotations = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		owner.Annotations[pairs[i]] = pairs[i+1]
	}
	require.NoError(m.t, m.others.Update(m.t.Context(), owner))
}

// play lets a cluster do its part, and then the operator all of its own.
func (m *migration) play(cluster func(*buildertest.Server) buildertest.Cluster) {
	m.t.Helper()
	m.settle(cluster)
	m.passesOn()
}

// passesOn lets the operator do all of its own, while nothing else happens.
func (m *migration) passesOn() {
	m.t.Helper()
	for range 20 {
		writes, _, err := m.pass()
		require.NoError(m.t, err)
		if len(writes) == 0 {
			return
		}
	}
	m.t.Fatal("the operator writes without end")
}

func (m *migration) jobs() []batchv1.Job {
	var list batchv1.JobList
	require.NoError(m.t, m.others.List(m.t.Context(), &list))
	return list.Items
}

// posts counts the Jobs that were ever made.
func (m *migration) posts() (n int) {
	for _, c := range m.server.Ledger().Writes() {
		if c.Verb == buildertest.VerbCreate && c.Kind.Kind == "Job" && c.Err == nil {
			n++
		}
	}
	return n
}

func (m *migration) image() string {
	web := &appsv1.Deployment{}
	err := m.others.Get(m.t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, web)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return ""
	}
	require.NoError(m.t, err)
	return web.Spec.Template.Spec.Containers[0].Image
}

func (m *migration) deleteJobs() {
	for _, job := range m.jobs() {
		require.NoError(m.t, m.others.Delete(m.t.Context(), &job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
}

// expire lets the time pass after which the TTL of an ended Job is over.
func (m *migration) expire() { m.server.Clock().Step(5 * time.Second) }

func TestRunOnceComesFirstAndIsNeverRepeated(t *testing.T) {
	m := migrate(t)
	m.play(jobsRun)
	require.Len(t, m.jobs(), 1)
	assert.Empty(t, m.image(), "at the first install, too")
	assert.NotNil(t, get(m.stage, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}}))
	assert.Nil(t, m.jobs()[0].Spec.TTLSecondsAfterFinished, "what must not go before its success is on record")

	m.play(jobsSucceed)
	assert.Equal(t, "web:v1", m.image())
	require.Len(t, m.jobs(), 1)
	assert.Equal(t, ptr.To[int32](5), m.jobs()[0].Spec.TTLSecondsAfterFinished)
	m.expire()
	m.play(jobsRun)
	assert.Empty(t, m.jobs())
	m.play(jobsRun)
	assert.Empty(t, m.passes())
	assert.Equal(t, 1, m.posts())

	m.want("image", "v2")
	m.play(jobsRun)
	assert.Equal(t, "web:v2", m.image(), "another image of the same schema needs no run")
	assert.Equal(t, 1, m.posts())

	m.want("schema", "v2", "image", "v3")
	m.play(jobsRun)
	assert.Equal(t, "web:v2", m.image())
	require.Len(t, m.jobs(), 1)
	m.play(jobsSucceed)
	m.expire()
	m.play(jobsRun)
	assert.Equal(t, "web:v3", m.image())
	assert.Equal(t, 2, m.posts())

	m.want("schema", "v1", "image", "v4")
	m.play(jobsRun)
	assert.Equal(t, "web:v4", m.image(), "a value that has run doesn't run again")
	assert.Equal(t, 2, m.posts())
}

func TestRunOnceAfterItsJobIsDeleted(t *testing.T) {
	m := migrate(t)
	m.passesOn()
	m.deleteJobs()
	m.passesOn()
	assert.Equal(t, 2, m.posts(), "deleted before its end, it runs again")
	m.play(jobsSucceed)
	m.deleteJobs()
	m.play(jobsRun)
	m.passesOn()
	assert.Equal(t, 2, m.posts(), "deleted afterwards, it doesn't")
	assert.Equal(t, "web:v1", m.image())
}

func TestRunOnceThatFails(t *testing.T) {
	m := migrate(t)
	m.passesOn()
	m.play(jobsFail)
	m.expire()
	m.play(jobsRun)
	assert.Empty(t, m.image(), "what follows is held")
	require.Len(t, m.jobs(), 1, "it stays to be looked at")
	assert.Equal(t, 1, m.posts(), "and isn't tried again by itself")

	m.deleteJobs()
	m.passesOn()
	assert.Equal(t, 2, m.posts())
	m.play(jobsSucceed)
	assert.Equal(t, "web:v1", m.image())
}

func TestRunsOfOneChildDontOverlap(t *testing.T) {
	m := migrate(t)
	m.passesOn()
	m.want("schema", "v2")
	m.passesOn()
	assert.Equal(t, 1, m.posts(), "the first still runs")
	m.play(jobsSucceed)
	assert.Equal(t, 2, m.posts())
	assert.Empty(t, m.image())
	m.play(jobsSucceed)
	assert.Equal(t, "web:v1", m.image())
	m.want("schema", "v1")
	m.play(jobsRun)
	assert.Equal(t, 2, m.posts(), "both are on record")
}

// The condition FailureTarget comes before the pods have ended.
func TestAFailingRunStillRuns(t *testing.T) {
	m := migrate(t)
	m.passesOn()
	end := func(how batchv1.JobConditionType) {
		job := m.jobs()[0]
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: how, Status: corev1.ConditionTrue})
		require.NoError(t, m.others.Status().Update(t.Context(), &job))
	}
	end(batchv1.JobFailureTarget)
	m.want("schema", "v2")
	m.passesOn()
	assert.Equal(t, 1, m.posts())
	end(batchv1.JobFailed)
	m.passesOn()
	assert.Equal(t, 2, m.posts())
}

// record returns the ControllerRevision of what has run.
func (m *migration) record() *appsv1.ControllerRevision {
	var list appsv1.ControllerRevisionList
	require.NoError(m.t, m.others.List(m.t.Context(), &list))
	for i := range list.Items {
		if strings.Contains(string(list.Items[i].Data.Raw), "runOnce") {
			return &list.Items[i]
		}
	}
	m.t.Fatal("there is no record")
	return nil
}

func TestARecordThatCantBeRead(t *testing.T) {
	other := func(text string) string { return strings.Replace(text, "migrate", "migrates", 1) }
	for name, c := range map[string]struct {
		edit func(string) string
		says string
	}{
		"a typo":        {func(text string) string { return text[1:] }, "invalid character"},
		"empty":         {func(string) string { return "" }, "unexpected end of JSON input"},
		"another child": {other, `child is "migrates"; want "migrate"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := migrate(t)
			m.passesOn()
			m.settle(jobsSucceed)
			late := m.server.Client("late")
			late.Freeze()
			m.play(jobsRun)
			m.play(jobsRun)
			record := m.record()
			good := record.Annotations[wellknown.AnnotationRunOnce]
			record.Annotations[wellknown.AnnotationRunOnce] = c.edit(good)
			require.NoError(t, m.others.Update(t.Context(), record))
			refused := func() {
				_, _, err := m.pass()
				require.ErrorIs(t, err, reconcile.TerminalError(nil))
				assert.ErrorContains(t, err, "default/"+record.Name+": annotation "+wellknown.AnnotationRunOnce)
				assert.ErrorContains(t, err, c.says)
				assert.Equal(t, 1, m.posts())
				assert.Equal(t, record.UID, m.record().UID)
			}
			ours := m.reconciler
			var err error
			m.reconciler, err = buildertest.NewReconciler(describedBy(migrating, ownsMigration), late, late.Now)
			require.NoError(t, err)
			refused()
			m.reconciler = ours
			m.deleteJobs()
			refused()
			refused()

			record = m.record()
			record.Annotations[wellknown.AnnotationRunOnce] = good
			require.NoError(t, m.others.Update(t.Context(), record))
			m.play(jobsRun)
			assert.Equal(t, 1, m.posts())
		})
	}
}

// The cache of a process shows neither the record nor the Job that is gone by now: the API server is asked.
func TestRunOnceBehindALateCache(t *testing.T) {
	m := migrate(t)
	process := func(name string) *buildertest.Client {
		c := m.server.Client(name)
		var err error
		m.reconciler, err = buildertest.NewReconciler(describedBy(migrating, ownsMigration), c, c.Now)
		require.NoError(t, err)
		return c
	}
	pass := func() error { _, err := m.reconciler.Reconcile(t.Context(), ownerRequest()); return err }
	process("first").CrashAfter(2) // the ConfigMap and the revision, no Job
	require.ErrorIs(t, pass(), buildertest.ErrCrashed)
	require.Empty(t, m.jobs())
	process("late").Freeze()
	late := m.reconciler

	process("second")
	require.NoError(t, pass())
	m.settle(jobsSucceed)
	require.NoError(t, pass())
	m.deleteJobs()
	m.reconciler = late
	_ = pass() // which may end in a conflict
	assert.Equal(t, 1, m.posts())
	assert.Empty(t, m.jobs())
}

func TestRunOnceSurvivesACrashAfterAnyWrite(t *testing.T) {
	owner := newOwner()
	owner.Annotations = map[string]string{"schema": "v1", "image": "v1"}
	s := scenario(migrating, ownsMigration)
	s.Objects = []client.Object{owner, newNode("n1")}
	s.Cluster = jobsSucceed
	buildertest.CrashEverywhere(t, s)
	s.Lag = 2
	buildertest.CrashEverywhere(t, s)
	s.LagOwnWrites = true
	buildertest.CrashEverywhere(t, s)
}

func TestRunOnceIsRefused(t *testing.T) {
	cases := map[string]struct {
		child builder.Child
		says  string
	}{
		"without a phase":   {builder.Want(newJob("j"), builder.RunOnce("1")), "is in no phase"},
		"of another kind":   {builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, builder.RunOnce("1"), builder.InPhase("a")), "give a *batchv1.Job"},
		"beside CreateOnly": {builder.Want(newJob("j"), builder.RunOnce("1"), builder.InPhase("a"), builder.CreateOnly()), "another option"},
		"beside Ignore":     {builder.Want(newJob("j"), builder.RunOnce("1"), builder.InPhase("a"), builder.Ignore("spec.suspend")), "another option"},
		"a Job with a TTL":  {builder.Want(withTTL(newJob("j")), builder.InPhase("a")), "add RunOnce(value)"},
		"CreateOnly":        {builder.Want(newJob("j"), builder.InPhase("a"), builder.CreateOnly()), "RunOnce(value)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			plan := func(*appsv1.Deployment, builder.View) ownerPlan {
				return ownerPlan{Rollout: rollout.Options{Phases: []string{"a"}}, Children: []builder.Child{c.child}}
			}
			writes, _, err := perform(t, plan, ownsMigration).pass()
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, c.says)
			assert.Empty(t, writes)
		})
	}
	twice := func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Rollout: rollout.Options{Phases: []string{"a"}}, Children: []builder.Child{
			builder.Want(newJob("j"), builder.RunOnce("1"), builder.InPhase("a")), builder.Want(newJob("j"), builder.RunOnce("2"), builder.InPhase("a")),
		}}
	}
	_, _, err := perform(t, twice, ownsMigration).pass()
	assert.ErrorContains(t, err, "RunOnce j is desired twice")
}

func withTTL(job *batchv1.Job) *batchv1.Job {
	job.Spec.TTLSecondsAfterFinished = ptr.To[int32](5)
	return job
}

// Without a value the pod template is the value, whatever else of the Job changes.
func TestRunOnceOfATemplate(t *testing.T) {
	job := newJob(strings.Repeat("long-", 14) + "name")
	plan := func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Rollout: rollout.Options{Phases: []string{"a"}}, Children: []builder.Child{builder.Want(job.DeepCopy(), builder.RunOnce(""), builder.InPhase("a"))}}
	}
	m := &migration{perform(t, plan, ownsMigration, newNode("n1"))}
	m.passesOn()
	require.Len(t, m.jobs(), 1)
	assert.LessOrEqual(t, len(m.jobs()[0].Name), 63)
	m.play(jobsSucceed)
	job.Spec.BackoffLimit = ptr.To[int32](7)
	m.passesOn()
	assert.Equal(t, 1, m.posts())
	job.Spec.Template.Spec.Containers[0].Image = "other"
	m.passesOn()
	assert.Equal(t, 2, m.posts())
}
