package fluxjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

func TestAFirstRun(t *testing.T) {
	job := makeJob("a", 1)
	s := &fixture{t: t, job: job, setups: []client.Object{offer(job)}}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(5))
	assert.Empty(t, s.plan.Children, "nothing is made before the acceptance is written")
	assert.Equal(t, lifecycle.Soon, s.plan.RequeueAfter)
	assert.Equal(t, int32(1), s.job.Status.Attempts)
	assert.Equal(t, &v1alpha1.FluxAdmission{Queue: "q", Time: at(5), Generation: 1, Size: 2, Pods: 2}, s.job.Status.Admission)
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Equal(t, "False Admitted", s.is(v1alpha1.ConditionJobWaitingForResources))
	assert.Equal(t, new(at(5)), s.job.Status.StartTime)

	assert.Empty(t, s.step(6))
	require.Len(t, s.plan.Children, 1)
	cluster := s.plan.Children[0].Object().(*v1alpha1.MiniCluster)
	assert.Equal(t, "a", cluster.Name)
	assert.Equal(t, map[string]string{admission.LabelQueue: "q"}, cluster.Labels)
	assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, cluster.Finalizers)
	assert.Equal(t, v1alpha1.MiniClusterSpec{
		Size: 2, Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "true"}},
		Pod: v1alpha1.MiniClusterPod{Labels: map[string]string{LabelFluxJob: "a", LabelUID: "a-uid"}},
	}, cluster.Spec)

	s.children = []client.Object{clusterOf(s.job, v1alpha1.MiniClusterStateStarting), jobOf(2)}
	assert.Empty(t, s.step(7))
	assert.Empty(t, s.plan.Children, "one that exists is left as it is")
	assert.Equal(t, "a", s.job.Status.MiniCluster)

	s.children[0] = clusterOf(s.job, v1alpha1.MiniClusterStateStarting, v1alpha1.MiniClusterPodsReady)
	assert.Empty(t, s.step(8))
	assert.Equal(t, v1alpha1.FluxJobReady, s.job.Status.State)
	assert.Equal(t, "True PodsReady", s.is(v1alpha1.ConditionJobMiniClusterReady))
	assert.Equal(t, new(at(8)), s.job.Status.Admission.ReadyTime)

	s.children[0] = clusterOf(s.job, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterRunning)
	assert.Equal(t, []string{v1alpha1.ReasonRunning}, s.step(9))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	assert.Equal(t, "True Running", s.is(v1alpha1.ConditionJobRunning))

	over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
	over.Status.ExitCode, over.Status.CompletionTime = ptr.To[int32](0), new(at(10))
	s.children[0] = over
	assert.Equal(t, []string{v1alpha1.ReasonSucceeded}, s.step(11))
	assert.Equal(t, v1alpha1.FluxJobSucceeded, s.job.Status.State)
	assert.Equal(t, ptr.To[int32](0), s.job.Status.ExitCode)
	assert.Equal(t, new(at(10)), s.job.Status.CompletionTime)
	assert.Equal(t, "True Succeeded", s.is(v1alpha1.ConditionJobFinished))
	assert.Equal(t, "True Succeeded", s.is(v1alpha1.ConditionSucceeded))
	assert.Equal(t, "True Succeeded", s.is(events.ConditionReady))
	assert.Equal(t, "False Finished", s.is(v1alpha1.ConditionJobRunning))
	assert.NotNil(t, s.job.Status.Admission, "a worker has yet to stop")

	s.children[1] = stopped(0)
	assert.Empty(t, s.step(12))
	assert.Nil(t, s.job.Status.Admission)
	assert.Empty(t, s.step(13))
	assert.Zero(t, s.plan)
}

func TestAQueueThatIsGoneKillsNothing(t *testing.T) {
	s := running(t)
	s.setups = nil
	assert.Empty(t, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	s.setups = []client.Object{makeSetup("q", clusters(0))} // made again, with an empty book
	assert.Empty(t, s.step(11))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	assert.Empty(t, s.plan.Edits)
}

func TestAChangeOfTheSpecOfAJobThatRuns(t *testing.T) {
	s := running(t)
	s.job.Spec.Command, s.job.Generation = "false", 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(10))
	assert.Empty(t, s.step(11))
	s.job.Spec.Priority, s.job.Generation = ptr.To[int32](-3), 3
	s.job.Spec.Command = "true"
	assert.Empty(t, s.step(12))
	assert.Empty(t, s.plan.Edits)
}

func TestAChangeOfTheSizeOfAJobThatRuns(t *testing.T) {
	s := running(t)
	s.job.Spec.Size, s.job.Generation = new(s.job.Status.Admission.Size+1), 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(10))
}

func TestKueueIsTheQueue(t *testing.T) {
	job := makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) { s.Queue = "" })
	job.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team", v1alpha1.LabelKueuePriority: "high", "other": "label"}
	s := &fixture{t: t, job: job}
	assert.Empty(t, s.step(5))
	assert.Equal(t, "team", s.job.Status.Queue)
	assert.Nil(t, s.job.Status.StartTime)
	require.NotNil(t, s.job.Status.Admission)
	assert.Empty(t, s.job.Status.Admission.Queue)
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	assert.Equal(t, map[string]string{v1alpha1.LabelKueueQueue: "team", v1alpha1.LabelKueuePriority: "high"}, s.plan.Children[0].Object().GetLabels())

	cluster := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	cluster.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.MiniClusterAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued, Message: "the Job waits for Kueue"}}
	s.children = []client.Object{cluster}
	s.step(7)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, "True Queued", s.is(v1alpha1.ConditionJobWaitingForResources))
}

// A job may change its queue while it is suspended, or waits. Its former MiniCluster would run under the former queue, or under none.
// The spec is edited back to that of the suspended MiniCluster after less was reserved.
func TestASuspendedMiniClusterThatNeedsMoreThanWasReserved(t *testing.T) {
	cpus := func(n string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(n)}}
	}
	s := admitted(t)
	s.job.Spec.Resources = cpus("100")
	cluster := clusterOf(s.job, v1alpha1.MiniClusterStateSuspended)
	cluster.Spec.Suspend = true
	s.children = []client.Object{cluster, stopped(0)}

	s.job.Spec.Resources, s.job.Generation = cpus("1"), 2
	s.job.Status.Admission.Generation = 2
	s.job.Status.Admission.Resources = corev1.ResourceList{"cpu": resource.MustParse("2")}
	s.job.Spec.Resources, s.job.Generation = cpus("100"), 3
	s.step(6)
	assert.Empty(t, s.plan.Edits, "it isn't resumed")
	require.NotNil(t, s.job.Status.LastEviction)
	assert.Equal(t, v1alpha1.ReasonSpecChanged, s.job.Status.LastEviction.Reason)
	assert.Nil(t, s.job.Status.Admission)
}

func TestTheMiniClusterOfAJobThatMovedToAnotherQueue(t *testing.T) {
	inQueue := func(name string) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) { j.Spec.Queue, j.Labels = name, nil }
	}
	inKueue := func(name string) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) {
			j.Spec.Queue, j.Labels = "", map[string]string{v1alpha1.LabelKueueQueue: name}
		}
	}
	tests := map[string]struct {
		from, to func(*v1alpha1.FluxJob)
		labels   map[string]string
	}{
		"from a FluxSetup to Kueue": {inQueue("q"), inKueue("team"), map[string]string{v1alpha1.LabelKueueQueue: "team"}},
		"from Kueue to a FluxSetup": {inKueue("team"), inQueue("q"), map[string]string{admission.LabelQueue: "q"}},
		"within Kueue":              {inKueue("team-a"), inKueue("team-b"), map[string]string{v1alpha1.LabelKueueQueue: "team-b"}},
		"to another FluxSetup":      {inQueue("q"), inQueue("p"), map[string]string{admission.LabelQueue: "p"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := makeJob("a", 1)
			tt.from(job)
			s := &fixture{t: t, job: job}
			s.admit(5)
			cluster := clusterOf(s.job, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterRunning)
			s.children = []client.Object{cluster, jobOf(2)}
			s.step(7)
			s.job.Spec.Suspend, s.job.Generation = true, 2
			s.step(10)
			require.Len(t, s.plan.Edits, 1)
			cluster = s.plan.Edits[0].After.(*v1alpha1.MiniCluster)
			cluster.Generation, cluster.Status.ObservedGeneration = 2, 2
			s.children = []client.Object{cluster, stopped(0)}
			s.step(11)
			require.Nil(t, s.job.Status.Admission)

			s.job.Spec.Suspend, s.job.Generation = false, 3
			tt.to(s.job)
			s.admit(20)
			s.step(21)
			assert.Empty(t, s.plan.Edits, "the MiniCluster of the former queue isn't resumed")
			assert.Equal(t, []client.Object{cluster}, s.plan.Delete)
			s.children = nil
			s.step(22)
			require.Len(t, s.plan.Children, 1)
			assert.Equal(t, tt.labels, s.plan.Children[0].Object().GetLabels())
		})
	}
}

// What changes after the admission takes effect at the next one: until then the job holds the quota of the queue that has admitted it.
func TestAChangeOfTheQueueAfterTheAdmission(t *testing.T) {
	s := admitted(t)
	s.job.Spec.Queue, s.job.Labels = "", map[string]string{v1alpha1.LabelKueueQueue: "team"}
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	assert.Equal(t, map[string]string{admission.LabelQueue: "q"}, s.plan.Children[0].Object().GetLabels())

	job := makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) { s.Queue = "" })
	job.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team"}
	s = &fixture{t: t, job: job}
	s.admit(5)
	s.job.Labels = nil
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	assert.Equal(t, map[string]string{v1alpha1.LabelKueueQueue: "team"}, s.plan.Children[0].Object().GetLabels())
}

func TestTheMiniClusterOfATemplate(t *testing.T) {
	template := &v1alpha1.MiniClusterSpec{
		Size: 1, MaxSize: 4, Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Command: "c"}},
		Flux: v1alpha1.MiniClusterFlux{Disable: true},
		Pod:  v1alpha1.MiniClusterPod{Labels: map[string]string{"team": "x", LabelUID: "of another job"}},
	}
	s := admitted(t, func(s *v1alpha1.FluxJobSpec) {
		s.Image, s.Command, s.MiniCluster = "", "", template
		s.DeadlineSeconds, s.BackoffLimit = ptr.To[int64](60), ptr.To[int32](3)
	})
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	want := *template.DeepCopy()
	want.Size, want.DeadlineSeconds, want.BackoffLimit = 2, ptr.To[int64](60), ptr.To[int32](3)
	want.Pod.Labels = map[string]string{"team": "x", LabelFluxJob: "a", LabelUID: "a-uid"}
	assert.Equal(t, want, s.plan.Children[0].Object().(*v1alpha1.MiniCluster).Spec)
	assert.Equal(t, int32(1), template.Size, "the template is shared")
	assert.Len(t, template.Pod.Labels, 2, "the template is shared")
}
