//go:build e2e

package e2e

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// A queue on real nodes: there is never more than its quota at once, a job of a high priority pushes out the newest of a lower
// one, which lines up where it was, and equals push out no one.
func TestQueueKeepsItsQuotaAndPriorities(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	setup := &v1alpha1.FluxSetup{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: v1alpha1.FluxSetupSpec{
			Quota:      v1alpha1.FluxQuota{Pods: ptr.To[int32](4)},
			Preemption: v1alpha1.PreemptionLowerPriority, PriorityLimits: []v1alpha1.FluxPriorityLimit{{Max: 100}},
		},
	}
	require.NoError(t, cluster.Create(t.Context(), setup))
	t.Cleanup(func() { _ = cluster.Delete(context.Background(), setup) })

	// A pod that is stopped before its command has begun fails, and so its Job would be made anew.
	s.submit("old", 0, "sleep 3600")
	s.await("JobMiniClusterReady", "fluxjob/old")
	s.submit("new", 0, "sleep 3600")
	s.await("JobMiniClusterReady", "fluxjob/new")
	s.submit("equal", 0, "true")
	s.is("fluxjob/equal", "{.status.conditions[?(@.type=='JobWaitingForResources')].reason}", v1alpha1.ReasonWaitingForQuota)
	s.is("fluxjob/equal", "{.status.position}", "1")

	s.submit("urgent", 100, "true")
	s.await("Succeeded", "fluxjob/urgent")
	// What was pushed out comes back before the job that came after it.
	s.is("fluxjob/new", "{.status.attempts}", "2")
	s.await("JobRunning", "fluxjob/new")
	s.is("fluxjob/equal", "{.status.state}", string(v1alpha1.FluxJobWaiting))
	s.is("fluxjob/old", "{.status.attempts}", "1")
	s.kubectl("delete", "fluxjob/old")
	s.await("Succeeded", "fluxjob/equal")

	assert.Equal(t, 4, s.mostPods(), "there was never more than the quota, and all of it was made use of")
	assert.Contains(t, s.kubectl("get", "events", "--field-selector=involvedObject.name=new", "--output=jsonpath={.items[*].reason}"), v1alpha1.ReasonPreempted)
	made := s.made("jobs.batch") // the Job of what is pushed out is suspended, and goes on to exist
	assert.Equal(t, map[string]int{"old": 1, "new": 1, "equal": 1, "urgent": 1}, made)
}

// submit makes a job of two pods for the queue that is called like the namespace.
func (s *space) submit(name string, priority int32, command string) {
	s.Helper()
	require.NoError(s, cluster.Create(s.Context(), &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
		Spec: v1alpha1.FluxJobSpec{
			Queue: s.name, Size: ptr.To[int32](2), Priority: &priority,
			MiniCluster: &v1alpha1.MiniClusterSpec{
				Flux:       v1alpha1.MiniClusterFlux{Disable: true},
				Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: command}},
			},
		},
	}))
}

// mostPods is how many pods of Jobs there were at once, ended ones apart.
func (s *space) mostPods() (most int) {
	s.Helper()
	there := map[string]bool{}
	for _, w := range s.history() {
		if w.key() != "pods "+w.name {
			continue
		}
		gone := w.verb == "delete" && ptr.Deref(w.object.DeletionGracePeriodSeconds, 0) == 0
		switch phase := w.object.Status.Phase; {
		case gone, phase == corev1.PodSucceeded, phase == corev1.PodFailed:
			delete(there, w.name)
		case w.verb == "create" && w.resource == "pods" && w.object.Labels[batchv1.JobNameLabel] != "":
			there[w.name] = true
			most = max(most, len(there))
		}
	}
	return most
}

// made counts how often operators have made what there was of a resource.
func (s *space) made(resource string) map[string]int {
	s.Helper()
	made := map[string]int{}
	for _, w := range s.history() {
		if w.verb == "create" && w.resource == resource && w.byOperator() {
			made[w.name]++
		}
	}
	return made
}

// Three jobs on a quota of two clusters: the third waits for one of the others, whatever they run.
func TestExampleQueueOfThree(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"flux/three-plain.yaml", "flux/three-flux.yaml"} {
		t.Run(filepath.Base(example), func(t *testing.T) {
			t.Parallel()
			eachVariant(t, func(s *space, v variant) {
				queue := "two-at-a-time-" + s.name
				s.applyVariant(v, example, "two-at-a-time", queue)
				s.Cleanup(func() { _, _ = kubectl("delete", "fluxsetup/"+queue) })
				for _, job := range []string{"first", "second", "third"} {
					s.await("Succeeded", "fluxjob/"+job)
				}
				s.requireOnce(3)
				assert.Equal(s, 4, s.mostPods(), "two clusters of two pods")
			})
		})
	}
}

// The default queue, a FluxJob that says no more than an image and a command, a batch that leaves nothing behind, and one
// that grows into what was reserved for it.
func TestExampleFluxJobs(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		queue := "default-" + s.name // each namespace has one of its own, since tests run side by side
		own := []string{"name: default", "name: " + queue, "kind: FluxJob", "kind: FluxJob", "queue: default", "queue: " + queue}
		s.applyVariant(v, "flux/hello.yaml", append(own, "  size: 4\n  tasks", "  queue: "+queue+"\n  size: 4\n  tasks")...)
		s.Cleanup(func() { _, _ = kubectl("delete", "fluxsetup/"+queue) })
		s.applyVariant(v, "flux/batch.yaml", own...)
		s.await("Succeeded", "fluxjob/hello")
		assert.Contains(s, s.logs("job/hello"), "hello from hello-0")
		s.await("Succeeded", "fluxjob/batch")
		s.kubectl("wait", "--for=delete", "minicluster/batch", "--timeout=300s")

		s.applyVariant(v, "flux/scale.yaml", own...)
		s.await("JobRunning", "fluxjob/elastic")
		s.is("fluxsetup/"+queue, "{.status.reservations[*].pods}", "8")
		s.kubectl("scale", "minicluster/elastic", "--replicas=6")
		s.is("job/elastic", "{.status.ready}", "6")
		assert.Equal(s, map[string]int{"hello": 1, "batch": 1, "elastic": 1}, s.made("jobs.batch"))
	})
}

// Two queues of a cohort: research borrows what production doesn't use, until production wants it.
func TestExampleQueuesOfACohort(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		production, research := "production-"+s.name, "research-"+s.name
		s.applyVariant(v, "flux/queues.yaml", "production", production, "research", research, "cohort: lab", "cohort: lab-"+s.name,
			// They only have to take longer than the test looks at them.
			"sleep 600", "sleep 3600", "sleep 60", "sleep 6", "sleep 30", "sleep 5")
		s.Cleanup(func() { _, _ = kubectl("delete", "fluxsetup/"+production, "fluxsetup/"+research) })
		s.await("Succeeded", "fluxjob/forecast")
		s.await("Succeeded", "fluxjob/homework")
		s.await("JobRunning", "fluxjob/analysis")
		assert.LessOrEqual(s, s.mostPods(), 12, "the quota of the cohort")
	})
}
