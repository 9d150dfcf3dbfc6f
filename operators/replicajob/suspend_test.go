package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestCleanPodPolicy(t *testing.T) {
	service, budget := client.Object(&corev1.Service{}), client.Object(&policyv1.PodDisruptionBudget{})
	for policy, want := range map[v1alpha1.CleanPodPolicy]struct {
		left  []string
		prune []client.Object
	}{
		"":        {[]string{"demo-chief-0", "demo-worker-0"}, []client.Object{budget, service}},
		"Running": {[]string{"demo-chief-0", "demo-worker-0"}, []client.Object{budget, service}},
		"All":     {[]string{}, []client.Object{budget, service}},
		"None":    {[]string{"demo-chief-0", "demo-worker-0", "demo-worker-1", "demo-worker-2"}, []client.Object{budget}},
	} {
		c := newCluster(t, makeJob(replicas("Chief", 1), replicas("Worker", 3), run(func(p *v1alpha1.RunPolicy) { p.CleanPodPolicy = policy })))
		c.settle()
		c.run("demo-chief-0", "demo-worker-1")
		c.ends(0, "demo-chief-0", "demo-worker-0")
		c.pass()
		c.pass()
		assert.Equal(t, want.prune, c.plan.Prune, policy)
		assert.Empty(t, c.plan.Children)
		c.settle()
		assert.ElementsMatch(t, want.left, c.names(), policy)
		if policy != "None" {
			assert.Zero(t, c.status("Worker").Active+c.status("Worker").Pending, "as it is now")
		}
		assert.EqualValues(t, 1, c.status("Worker").Succeeded, "as it was at the end")
	}
}

func TestDeadline(t *testing.T) {
	deadline := run(func(p *v1alpha1.RunPolicy) { p.ActiveDeadlineSeconds = ptr.To[int64](60) })
	begin := func(options ...option) *cluster {
		c := newCluster(t, makeJob(append([]option{replicas("Worker", 2), deadline}, options...)...))
		c.settle()
		c.run()
		return c
	}
	c := begin()
	c.at(60)
	assert.Equal(t, v1alpha1.ReplicaJobRunning, c.job.Status.State)
	assert.Equal(t, time.Second, c.plan.RequeueAfter)
	c.at(61)
	assert.Equal(t, "DeadlineExceeded", c.is("Failed"))
	assert.Empty(t, c.pods)

	late := begin(run(func(p *v1alpha1.RunPolicy) { p.CleanPodPolicy = "None" }))
	late.ends(0, "demo-worker-1")
	late.at(3600)
	assert.Equal(t, "DeadlineExceeded", late.is("Failed"))
	assert.Equal(t, epoch.Unix()+61, late.job.Status.CompletionTime.Unix(), "it passed while no one looked")
	assert.Equal(t, podNames("Worker", 1), late.names(), "what runs is ended whatever the policy")

	inTime := begin()
	inTime.seconds = 50
	inTime.ends(0, "demo-worker-0")
	inTime.at(3600)
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, inTime.job.Status.State, "it was done in time, and is seen late")

	tooLate := begin()
	tooLate.seconds = 62
	tooLate.ends(0, "demo-worker-0")
	tooLate.at(3600)
	assert.Equal(t, "DeadlineExceeded", tooLate.is("Failed"))

	never := begin()
	never.job.Spec.RunPolicy.ActiveDeadlineSeconds = ptr.To[int64](9_999_999_999) // more than time.Duration holds
	never.at(3600)
	assert.Equal(t, v1alpha1.ReplicaJobRunning, never.job.Status.State)

	failed := begin()
	failed.seconds = 50
	failed.ends(1, "demo-worker-0")
	failed.at(3600)
	assert.Equal(t, "ReplicaFailed", failed.is("Failed"), "it failed in time")
}

func TestSuspendAndResume(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2, restart("ExitCode")), success("AllWorkers"),
		run(func(p *v1alpha1.RunPolicy) { p.ActiveDeadlineSeconds = ptr.To[int64](60) })))
	c.settle()
	c.run()
	c.ends(137, "demo-worker-1")
	c.settle()
	c.run()
	c.ends(0, "demo-worker-0")
	c.settle()
	c.lingers = true

	c.seconds = 30
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	c.pass()
	assert.Empty(t, c.plan.Delete, "the suspension must be on record")
	assert.Empty(t, c.is("Suspended"), "pods still run")
	assert.Equal(t, "Suspending", c.condition("Suspended").Reason)
	assert.Equal(t, "runPolicy.suspend is true; 2 pods are being stopped", c.condition("Ready").Message)
	assert.Equal(t, v1alpha1.ReplicaJobRunning, c.job.Status.State)
	assert.Nil(t, c.job.Status.StartTime)
	c.pass()
	assert.Len(t, c.plan.Delete, 2, "also what has succeeded")
	assert.Len(t, c.plan.Prune, 2)
	assert.Empty(t, c.plan.Children)
	c.at(3600)
	assert.Empty(t, c.is("Failed"), "there is no deadline")
	assert.Empty(t, c.is("Suspended"))

	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	c.settle()
	assert.Equal(t, "the job is resumed once its old pods are gone; 2 pods are being stopped", c.condition("Ready").Message)
	assert.Equal(t, 3, c.creates)
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	c.gone()
	c.at(3700)
	assert.Equal(t, "Suspended", c.is("Suspended"))
	assert.Empty(t, c.is("Running"))
	assert.Equal(t, v1alpha1.ReplicaJobSuspended, c.job.Status.State)
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	c.at(4000)
	assert.Equal(t, c.now(), *c.job.Status.StartTime)
	assert.Equal(t, "Resumed", c.condition("Suspended").Reason)
	assert.Equal(t, podNames("Worker", 0, 1), c.names(), "what had succeeded runs again")
	assert.Equal(t, 1, label(c.pods["demo-worker-1"], LabelRestarts), "restarts stay counted")
	assert.EqualValues(t, 1, c.status("Worker").Restarts)
	assert.Equal(t, []string{"Started", "Running", "ReplicaRestarting", "Running", "Suspended", "Resumed"}, c.reasons())
	c.run()
	c.ends(0, c.names()...)
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State, "over is over")
	assert.Equal(t, "ChangeIgnored", c.reasons()[len(c.told)-1])
}

func TestAJobThatIsBornSuspended(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1), run(func(p *v1alpha1.RunPolicy) { p.Suspend = true })))
	c.settle()
	assert.Empty(t, c.pods)
	assert.Nil(t, c.job.Status.StartTime)
	assert.Equal(t, 1, c.writes)
	assert.Equal(t, []string{"Suspended"}, c.reasons())
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	c.at(100)
	assert.Equal(t, c.now(), *c.job.Status.StartTime)
	assert.Len(t, c.pods, 1)
}

func TestTTL(t *testing.T) {
	end := func(ttl *int32) *cluster {
		c := newCluster(t, makeJob(replicas("Worker", 1), run(func(p *v1alpha1.RunPolicy) { p.TTLSecondsAfterFinished = ttl })))
		c.settle()
		c.run()
		c.ends(0, "demo-worker-0")
		return c
	}
	c := end(ptr.To[int32](30))
	c.settle()
	assert.False(t, c.plan.DeleteOwner)
	assert.Equal(t, 31*time.Second, c.plan.RequeueAfter)
	c.at(31)
	assert.True(t, c.plan.DeleteOwner)

	c = end(ptr.To[int32](0))
	c.pass()
	assert.False(t, c.plan.DeleteOwner, "the end must be on record")
	c.pass()
	assert.True(t, c.plan.DeleteOwner)

	c = end(ptr.To[int32](30))
	c.seconds = 3600 // no one looked until now
	c.pass()
	require.False(t, c.plan.DeleteOwner)
	c.pass()
	assert.True(t, c.plan.DeleteOwner)

	c = end(nil)
	c.at(1 << 30)
	assert.False(t, c.plan.DeleteOwner)
}

func TestChangesAfterTheEndHaveNoEffect(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1)))
	c.settle()
	c.run()
	c.ends(0, "demo-worker-0")
	c.settle()
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.ReplicaSpecs = nil })
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
	assert.EqualValues(t, 2, c.job.Status.ObservedGeneration)
	assert.EqualValues(t, 2, c.condition("Succeeded").ObservedGeneration)
	assert.Equal(t, podNames("Worker", 0), c.names())
	assert.Equal(t, []string{"Started", "Running", "Succeeded", "ChangeIgnored"}, c.reasons())
}
