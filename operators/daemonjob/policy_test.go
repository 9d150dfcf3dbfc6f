package daemonjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// oneByOne is a roll-out that stops after so many failures, by a policy.
func oneByOne(policy v1alpha1.FailurePolicy, maxFailures *intstr.IntOrString) func(*spec) {
	return func(s *spec) {
		s.Parallelism = new(intstr.FromInt32(1))
		s.FailurePolicy = policy
		s.MaxFailures = maxFailures
	}
}

// A cache may show a Job only after the end was recorded.
func TestAJobThatWasMissedIsStoppedLater(t *testing.T) {
	job := makeJob(oneByOne(v1alpha1.FailureFailFast, nil))
	job.Status = v1alpha1.DaemonJobStatus{State: v1alpha1.StateFailed, FailedNodes: "n[1-2]", CompletionTime: new(at(2))}
	missed := onNode(render(job), job, makeNode("n2"))
	plan := Plan(job, buildertest.NewView(at(3).Time, missed))
	assert.Equal(t, []client.Object{missed}, plan.Delete)
}

func TestSuspendOrResumeLeavesTerminatingJobsAlone(t *testing.T) {
	terminating := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "demo-n1", DeletionTimestamp: new(at(1))}}
	p := &pass{job: makeJob(func(s *spec) { s.Suspend = true })}
	assert.Empty(t, p.suspendOrResume(&observed{running: []run{{node: "n1", job: terminating}}}))
}

// The clock of a node may be ahead.
func TestCompletionTimeIsNotInTheFuture(t *testing.T) {
	job := makeJob()
	job.Status.StartTime = new(at(0))
	node := makeNode("n1")
	own := onNode(render(job), job, node)
	own.UID = "own"
	for ended, want := range map[int]metav1.Time{3600: at(100), 100: at(100), 40: at(40), -600: at(100)} {
		pod := succeededPod(own)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(ended)},
		}}}
		plan := Plan(job, buildertest.WithWatched(buildertest.NewView(at(100).Time, own, pod), node))
		assert.Equal(t, new(want), plan.Status.Status.CompletionTime, "ended %d s after the start", ended)
	}
}

// The node may be the same machine, registered again, whose kubelet kills the pod at the end of its grace period.
func TestAPodOlderThanItsNodeIsWaitedForUntilItIsKilled(t *testing.T) {
	job := makeJob()
	job.Status.StartTime = new(at(0))
	pod := succeededPod(onNode(render(job), job, makeNode("n1")))
	pod.CreationTimestamp, pod.DeletionTimestamp, pod.Spec.NodeName, pod.Status.Phase = at(0), new(at(70)), "n1", corev1.PodRunning
	node := makeNode("n1")
	node.CreationTimestamp = at(50)
	plan := func(now int) builder.Plan[*v1alpha1.DaemonJob] {
		return Plan(job, buildertest.WithWatched(buildertest.WithWatched(buildertest.NewView(at(now).Time), node), pod))
	}
	assert.Empty(t, plan(129).Children)
	assert.Equal(t, time.Second, plan(129).RequeueAfter)
	assert.Len(t, plan(130).Children, 1, "a simulated kubelet may not know it")
	node.CreationTimestamp = at(-50)
	assert.Empty(t, plan(130).Children)
}

// A suspended Job can be interrupted as well, and counts once.
func TestProgressCountsEachNodeOnce(t *testing.T) {
	suspended := &batchv1.Job{Spec: batchv1.JobSpec{Suspend: new(true)}}
	o := &observed{
		running: []run{
			{node: "a", job: suspended}, {node: "b", job: &batchv1.Job{}}, {node: "c", job: suspended}, {node: "d", job: suspended},
		},
		failing: []blocker{{"a", "PodFailurePolicy, and it is not ready"}}, interrupted: []blocker{{"c", "is not ready"}},
	}
	assert.Equal(t, "0 of 4 nodes succeeded, 1 running, 1 suspended, "+
		"1 failing (a PodFailurePolicy, and it is not ready), 1 interrupted (c is not ready)", o.progress())
}
