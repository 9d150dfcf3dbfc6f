package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// podOf returns a pod that a Job of a plan has, running.
func podOf(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name + "-x", Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
	}}
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// stepWith is step with pods that name the flow, those of its Jobs among them.
func (s *stepper) stepWith(pods []*corev1.Pod, jobs ...client.Object) builder.Plan[*v1alpha1.JobFlow] {
	s.seconds += 10
	view := buildertest.WithWatched(buildertest.NewView(at(s.seconds).Time, jobs...), s.referred...)
	for _, pod := range pods {
		view = buildertest.WithWatched(view, pod)
	}
	plan := Plan(s.flow, view)
	if plan.Status != nil {
		s.flow = plan.Status
	}
	return plan
}

func ended(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	return pod
}

func TestAJobThatWasDeletedWaitsForItsPods(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), each("c", "x", "y"))}
	jobs := jobsOf(s.step(), runningJob) // c-0, c-1, a, b
	for _, job := range jobs {
		job.SetUID(types.UID(job.GetName()))
	}
	a, cy := podOf(jobs[2].(*batchv1.Job)), podOf(jobs[1].(*batchv1.Job))
	s.step(jobs...)

	plan := s.stepWith([]*corev1.Pod{a, cy}, jobs[0], jobs[3]) // those of a and of c's second item were deleted
	assert.Empty(t, started(plan))
	const waits = "waits for pod demo-a-x of an earlier Job to end"
	assert.Equal(t, waits, detailOf(s.flow, "a").Message)
	assert.Equal(t, v1alpha1.FlowPending, states(s.flow)["a"])
	assert.Equal(t, "waits for pod demo-c-1-x of an earlier Job to end", detailOf(s.flow, "c").Message)
	assert.Equal(t, "PodsTerminating", condition(s.flow, "Ready").Reason)
	assert.Contains(t, condition(s.flow, "Ready").Message, `flow "a" `+waits)

	plan = s.stepWith([]*corev1.Pod{ended(a), ended(cy)}, jobs[0], jobs[3])
	assert.Equal(t, []string{"demo-c-1", "demo-a"}, started(plan))
	assert.Empty(t, detailOf(s.flow, "a").Message)
}

// A pod without a controller was orphaned, and runs on.
func TestAJobWaitsForOrphansOfItsPredecessor(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	orphan := podOf(jobsOf(s.step(), runningJob)[0].(*batchv1.Job))
	orphan.OwnerReferences = nil
	assert.Empty(t, started(s.stepWith([]*corev1.Pod{orphan})))
	orphan.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "demo-a", UID: "u", Controller: new(true)}}
	assert.NotEmpty(t, started(s.stepWith([]*corev1.Pod{orphan})), "someone else's")
}
