package builder_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// migrationPlan wants a Job that runs once for a schema, and the Deployment "server" once it has.
func migrationPlan(owner *Widget, _ builder.View) builder.Plan[*Widget] {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "migrate"},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: ptr.To[int32](1), BackoffLimit: ptr.To[int32](0),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "migrate"}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](0),
					Containers: []corev1.Container{{Name: "main", Image: "example.com/app:" + owner.Spec.Data["schema"]}},
				},
			},
		},
	}
	return builder.Plan[*Widget]{
		Rollout: rollout.Options{Phases: []string{"migrate", "serve"}}, Report: true,
		Children: []builder.Child{
			builder.Want(job, builder.RunOnce(owner.Spec.Data["schema"]), builder.InPhase("migrate")),
			builder.Want(phaseDeployment("server", owner.Spec.Data["server"]), builder.InPhase("serve")),
		},
	}
}

// migrated is an operated widget with a migration.
type migrated struct{ *phased }

func operateMigration(t *testing.T) *migrated {
	return &migrated{&phased{operateAs(t, func(o *builder.Operator[*Widget]) { o.Owns(&batchv1.Job{}) }, migrationPlan,
		&Widget{Spec: WidgetSpec{Data: map[string]string{"schema": "s1", "server": "v1"}}})}}
}

// end ends the migration's pods, as a kubelet would.
func (m *migrated) end(how corev1.PodPhase) {
	var pods corev1.PodList
	require.NoError(m.t, m.live.List(m.ctx, &pods, client.InNamespace(m.ns), client.MatchingLabels{"app": "migrate"}))
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Status.Phase == corev1.PodPending {
			pod.Status.Phase = how
			_ = m.live.Status().Update(m.ctx, pod) // it may be gone; the next call sees
		}
	}
}

// until plays the cluster until the condition Ready has the reason.
func (m *migrated) until(reason string, migration corev1.PodPhase) {
	m.t.Helper()
	m.eventually(func() bool { m.end(migration); m.run("server"); return m.reason() == reason }, "the reason %s", reason)
}

func (m *migrated) jobs() []batchv1.Job {
	var list batchv1.JobList
	require.NoError(m.t, m.live.List(m.ctx, &list, client.InNamespace(m.ns)))
	return list.Items
}

func (m *migrated) deployed() string { return strings.Fields(m.running())[2] }

func TestAMigrationRunsOnceWhateverBecomesOfItsJob(t *testing.T) {
	m := operateMigration(t)
	m.eventually(func() bool { return len(m.jobs()) == 1 }, "the Job")
	m.eventually(func() bool { return m.reason() == events.ReasonRollingOut }, "the condition")
	assert.Equal(t, "-", m.deployed(), "at the first install, too")
	m.until(events.ReasonReady, corev1.PodSucceeded)
	assert.Equal(t, "v1", m.deployed())
	m.eventually(func() bool { return len(m.jobs()) == 0 }, "the TTL, 1 s after the success is on record")
	m.eventually(func() bool { return m.heard("RanOnce") == 1 }, "the event")
	for range 3 {
		m.poke()
	}
	m.settled()

	m.want(map[string]string{"schema": "s2", "server": "v2"})
	m.eventually(func() bool { return len(m.jobs()) == 1 }, "the next Job")
	first := m.jobs()[0]
	require.NoError(t, m.live.Delete(m.ctx, &first, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	m.eventually(func() bool { jobs := m.jobs(); return len(jobs) == 1 && jobs[0].UID != first.UID }, "another, since it had not ended")
	m.until(events.ReasonReady, corev1.PodSucceeded)
	assert.Equal(t, "v2", m.deployed())
	for _, job := range m.jobs() {
		require.NoError(t, client.IgnoreNotFound(m.live.Delete(m.ctx, &job, client.PropagationPolicy(metav1.DeletePropagationBackground))))
	}

	m.stop() // another process knows as much
	m.sent.reset()
	m.start(migrationPlan)
	m.poke()
	m.want(map[string]string{"schema": "s1", "server": "v3"})
	m.until(events.ReasonReady, corev1.PodSucceeded)
	assert.Equal(t, "v3", m.deployed())
	m.settled()
	assert.Zero(t, m.sent.count("POST", "/jobs"), "both have run")
	assert.Empty(t, m.jobs())
}

func TestAMigrationThatFailsHaltsTheInstall(t *testing.T) {
	m := operateMigration(t)
	m.until(events.ReasonRolloutHalted, corev1.PodFailed)
	assert.Equal(t, "-", m.deployed())
	assert.Equal(t, metav1.ConditionTrue, m.condition(events.ConditionStalled).Status)
	assert.Contains(t, m.condition(events.ConditionStalled).Message, "delete this Job to run it again")
	m.settled()
	require.Len(t, m.jobs(), 1)
	failed := m.jobs()[0]
	assert.Nil(t, failed.Spec.TTLSecondsAfterFinished, "it stays to be looked at")
	require.NoError(t, m.live.Delete(m.ctx, &failed, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	m.eventually(func() bool { jobs := m.jobs(); return len(jobs) == 1 && jobs[0].UID != failed.UID }, "another run")
	m.until(events.ReasonReady, corev1.PodSucceeded)
	assert.Equal(t, "v1", m.deployed())
	assert.NotNil(t, m.get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "server"}}))
}
