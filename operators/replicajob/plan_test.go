package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// Pods that are no replica are deleted, and don't count. Labels that are nonsense neither panic nor delay the job.
func TestPodsOfNoReplicaAreDeleted(t *testing.T) {
	job := makeJob(started, replicas("Worker", 2), success("AllWorkers"))
	workers := podsOf(job, ready)
	workers[1].(*corev1.Pod).Labels = map[string]string{
		LabelOperator: Name, LabelJob: "demo", LabelType: "?", LabelIndex: "-1", LabelRestarts: "many", LabelRestartAttempt: "-7",
	}
	var others []client.Object
	for name, index := range map[string]string{
		"demo-worker-0-twin": "0", "demo-worker--1": "-1", "demo-worker-00": "0", "demo-worker-2": "2", "demo-ps-0": "0",
		"nonsense": "x", "demo-worker-": "", "demo-worker-99999999999999999999": "99999999999999999999",
	} {
		pod := workers[0].DeepCopyObject().(*corev1.Pod)
		pod.Name, pod.Labels[LabelIndex] = name, index
		end(pod, 0, metav1.NewTime(epoch))
		others = append(others, pod)
	}
	plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, append(others, workers...)...))
	assert.ElementsMatch(t, others, plan.Delete)
	assert.Equal(t, v1alpha1.ReplicaJobRunning, plan.Status.Status.State)
	assert.Empty(t, plan.Children)
	plan = ReplicaJobs.Plan(job, buildertest.NewView(epoch, workers...))
	assert.Len(t, plan.Children, 1, "the Service, and no pod")

	for _, pod := range workers {
		end(pod.(*corev1.Pod), 0, metav1.NewTime(epoch))
	}
	plan = ReplicaJobs.Plan(job, buildertest.NewView(epoch, append(others, workers...)...))
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, plan.Status.Status.State)
}

func TestAReleasedPodKeepsItsOtherOwners(t *testing.T) {
	job := makeJob(started, replicas("Worker", 1))
	pods := podsOf(job, ready, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Name: "other"}, {Name: "demo", Controller: new(true)}}
		p.Labels[LabelJob] = "other"
	})
	plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...))
	require.Len(t, plan.Edits, 1)
	assert.Equal(t, []metav1.OwnerReference{{Name: "other"}}, plan.Edits[0].After.GetOwnerReferences())
}

// The builder deletes nothing after an edit that is refused.
func TestAPodThatCannotBeReleasedDelaysNoDeletion(t *testing.T) {
	job := makeJob(started, replicas("Worker", 3, restart("OnFailure")))
	pods := podsOf(job, ready)
	pods[0].(*corev1.Pod).Labels[LabelJob] = "other"
	planWith := func(pods ...client.Object) builder.Plan[*v1alpha1.ReplicaJob] {
		plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch.Add(time.Minute), pods...))
		if plan.Status != nil {
			job = plan.Status
		}
		return plan
	}
	end(pods[1].(*corev1.Pod), 1, metav1.NewTime(epoch))
	planWith(pods...) // records the restart
	plan := planWith(pods...)
	assert.Equal(t, pods[1:2], plan.Delete)
	assert.Empty(t, plan.Edits)
	assert.Len(t, planWith(pods[0], pods[2]).Edits, 1)

	job.Spec.RunPolicy.Suspend = true
	planWith(pods...) // records the suspension
	plan = planWith(pods...)
	assert.Equal(t, pods[1:], plan.Delete)
	assert.Empty(t, plan.Edits)
	assert.Len(t, planWith(pods[0]).Edits, 1)
}

func TestALargeJobIsCreatedAndDeletedInBatches(t *testing.T) {
	const size = 2*batch + 1
	job := makeJob(started, replicas("Worker", size))
	all := podsOf(job)
	for there, created := range map[int]int{0: batch, batch: batch, 2 * batch: 1, size: 0} {
		plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, all[:there]...))
		assert.Len(t, plan.Children, 1+created, "the Service and pods")
		assert.Equal(t, created == batch, plan.RequeueAfter > 0)
	}
	job.Spec.RunPolicy.Suspend = true
	job = ReplicaJobs.Plan(job, buildertest.NewView(epoch, all...)).Status // records the suspension
	plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, all...))
	assert.Len(t, plan.Delete, batch)
	assert.Positive(t, plan.RequeueAfter)
}

// A kind names the container whose exit code counts, here more than that of the first one.
func TestTheContainerThatCounts(t *testing.T) {
	kind := ReplicaJobs
	kind.Container = "torch"
	job := makeJob(started, replicas("Worker", 1, restart("ExitCode"), func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers = append(s.Template.Spec.Containers, corev1.Container{Name: "torch"})
	}))
	pods := podsOf(job, func(p *corev1.Pod) {
		end(p, 137, metav1.NewTime(epoch))
		torch := corev1.ContainerStatus{Name: "torch"}
		torch.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, torch)
	})
	plan := kind.Plan(job, buildertest.NewView(epoch, pods...))
	assert.Contains(t, condition(plan.Status, "Failed").Message, "Worker 0 failed with exit code 1")
}

// The kubelet's count is lost with its pod, so that a status with a higher one isn't written later. Other counts can wait.
func TestRestartsInPlaceAreRecordedAtOnce(t *testing.T) {
	job := makeJob(started, replicas("Worker", 2, restart("OnFailure")))
	pods := podsOf(job, ready)
	running := ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...)).Status
	require.NotNil(t, running)

	pending := pods[0].DeepCopyObject().(*corev1.Pod)
	pending.Status = corev1.PodStatus{Phase: corev1.PodPending}
	plan := ReplicaJobs.Plan(running, buildertest.NewView(epoch, pending, pods[1]))
	require.NotNil(t, plan.Status)
	assert.Equal(t, statusDelay, plan.StatusCanWait)

	restarted := pods[0].DeepCopyObject().(*corev1.Pod)
	restarted.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 1}}
	plan = ReplicaJobs.Plan(running, buildertest.NewView(epoch, restarted, pods[1]))
	require.NotNil(t, plan.Status)
	assert.EqualValues(t, 1, plan.Status.Status.TotalRestarts)
	assert.Zero(t, plan.StatusCanWait)
}
