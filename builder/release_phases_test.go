package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
)

// A disruption in a later phase waits for a turn, whether the earlier phases are ready or not when the new build starts.
func TestALaterPhaseWaitsForATurn(t *testing.T) {
	withDatabase := func(flow *v1alpha1.JobFlow, p *builder.Plan[*v1alpha1.JobFlow]) {
		p.Rollout.Phases = []string{"db", "web"}
		db := newOwner()
		db.Namespace, db.Name = "", flow.Name+"-db"
		p.Children = []builder.Child{
			builder.Want(db, builder.InPhase("db")), builder.Want(p.Children[0].Object(), builder.InPhase("web")),
		}
	}
	p, q := one, two
	p.more, q.more = withDatabase, withDatabase
	f := newFleet(t, "a", "b")
	f.starts(p)
	f.round()
	f.becomesReady("a-db", "b-db", "a", "b")
	f.round()
	f.round()
	require.Equal(t, turns.Complete, f.record().State)

	f.now = f.now.Add(time.Hour)
	for _, name := range []string{"a-db", "b-db"} {
		var db appsv1.Deployment
		require.NoError(t, f.world.Get(t.Context(), key(name), &db))
		db.Status.AvailableReplicas, db.Status.ReadyReplicas = 0, 0
		db.Status.Conditions[0].Status = corev1.ConditionFalse
		require.NoError(t, f.world.Status().Update(t.Context(), &db))
	}
	f.starts(q)
	f.operator.Ledger().Reset()
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	for _, call := range f.operator.Ledger().Writes() {
		assert.NotEqual(t, "ControllerRevision", call.Kind.Kind, "the dry pass records no roll-out")
	}
	f.becomesReady("a-db", "b-db")
	for range 3 {
		f.round()
	}
	assert.Equal(t, "web:2 web:1", f.images())
	f.becomesReady("a")
	for range 3 {
		f.round()
	}
	assert.Equal(t, "web:2 web:2", f.images())
}

// So does what follows a Job that must run first: neither the Jobs nor the Deployments of all owners start at once.
func TestWhatFollowsAJobWaitsForATurn(t *testing.T) {
	migrating := func(value string) func(*v1alpha1.JobFlow, *builder.Plan[*v1alpha1.JobFlow]) {
		return func(flow *v1alpha1.JobFlow, p *builder.Plan[*v1alpha1.JobFlow]) {
			p.Rollout.Phases = []string{"migrate", "serve"}
			p.Children = []builder.Child{
				builder.Want(newJob(flow.Name+"-migrate"), builder.RunOnce(value), builder.InPhase("migrate")),
				builder.Want(p.Children[0].Object(), builder.InPhase("serve")),
			}
		}
	}
	p, q := one, two
	p.more, q.more = migrating("v1"), migrating("v2")
	f := newFleet(t, "a", "b")
	jobs := func() (names []string) {
		var list batchv1.JobList
		require.NoError(t, f.world.List(t.Context(), &list))
		for i := range list.Items {
			job := &list.Items[i]
			names = append(names, job.Name)
			if len(job.Status.Conditions) == 0 {
				job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
				require.NoError(t, f.world.Status().Update(t.Context(), job))
			}
		}
		return names
	}
	f.starts(p)
	f.round()
	require.Len(t, jobs(), 2)
	f.round()
	f.becomesReady("a", "b")
	for range 3 {
		f.round()
	}
	require.Equal(t, turns.Complete, f.record().State)
	before := jobs()

	f.now = f.now.Add(time.Hour)
	f.starts(q)
	f.round()
	assert.Equal(t, "Releasing WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
	assert.Contains(t, c.Message, "Deployment.apps default/b restarts pods")
	f.round()
	assert.Len(t, jobs(), len(before)+1, "only that of a has begun")
	f.round()
	assert.Equal(t, "web:2 web:1", f.images())
	f.becomesReady("a")
	for range 4 {
		f.round()
		jobs()
	}
	assert.Equal(t, "web:2 web:2", f.images())
}

// A roll-out that a user's change has begun goes on under a new build that plans the same: the new build disrupts nothing.
func TestARolloutInPhasesGoesOnUnderANewBuild(t *testing.T) {
	for name, tt := range map[string]struct {
		ready, drops bool
	}{
		"while its first phase isn't ready": {},
		"when its first phase is ready":     {ready: true},
		"while it will delete a child":      {drops: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := one
			p.more = func(flow *v1alpha1.JobFlow, p *builder.Plan[*v1alpha1.JobFlow]) {
				p.Rollout.Phases = []string{"db", "web"}
				db := newOwner()
				db.Namespace, db.Name = "", flow.Name+"-db"
				db.Spec.Template.Spec.Containers[0].Name = flow.Spec.Flows[0].Name
				p.Children = []builder.Child{
					builder.Want(db, builder.InPhase("db")), builder.Want(p.Children[0].Object(), builder.InPhase("web")),
				}
				if tt.drops && flow.Spec.Flows[0].Name == "small" {
					p.Children = append(p.Children, builder.Want(newConfigMap("", flow.Name+"-small", ""), builder.InPhase("db")))
				}
			}
			f := newFleet(t, "a", "b")
			f.starts(p)
			f.round()
			f.becomesReady("a-db", "b-db", "a", "b")
			f.round()
			f.round()
			require.Equal(t, turns.Complete, f.record().State)
			for _, name := range f.owners {
				flow := f.flow(name)
				flow.Spec.Flows[0].Name = "changed"
				flow.Generation++
				require.NoError(t, f.world.Update(t.Context(), flow))
			}
			f.round()
			containerOf := func(name string) string { return f.deployment(name).Spec.Template.Spec.Containers[0].Name }
			require.Equal(t, "changed", containerOf("a-db"))
			require.Equal(t, "small", containerOf("a"))
			f.now = f.now.Add(time.Hour)
			if tt.ready {
				f.becomesReady("a-db", "b-db")
			}
			p.build = "2222222222"
			f.starts(p)
			f.round()
			assert.Equal(t, turns.Complete, f.record().State)
			f.becomesReady("a-db", "b-db")
			for range 3 {
				f.round()
			}
			assert.Equal(t, "changed", containerOf("a"))
			assert.Equal(t, "changed", containerOf("b"))
		})
	}
}
