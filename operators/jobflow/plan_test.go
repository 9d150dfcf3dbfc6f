package jobflow

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

// The clock of the Jobs may be behind the manager's.
func TestAnEndIsNotBeforeItsStart(t *testing.T) {
	flow := after(after(makeFlow(node("a"))), completeJob("a"))
	assert.Equal(t, at(10), *flow.Status.StartTime)
	assert.Equal(t, at(10), *flow.Status.CompletionTime)
}

func TestPlanIgnoresStrangers(t *testing.T) {
	plan := planOf(makeFlow(node("a")), failedJob("other"))
	assert.Equal(t, []string{"demo-a"}, started(plan))
	assert.Equal(t, v1alpha1.StatePending, plan.Status.Status.State)
}

func TestPlanLeavesTheBuildersConditionAlone(t *testing.T) {
	flow := after(makeFlow(node("a")))
	*flow.Conditions() = append(*flow.Conditions(), metav1.Condition{Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: "ApplyFailed"})
	assert.Equal(t, metav1.ConditionTrue, condition(after(flow, runningJob("a")), "Stalled").Status)
}

func TestPlanBoundsWhatItTells(t *testing.T) {
	flow := makeFlow()
	var jobs []client.Object
	for i := range 50 {
		name := fmt.Sprintf("n%02d", i)
		flow.Spec.Flows = append(flow.Spec.Flows, node(name))
		jobs = append(jobs, failedJob(name))
	}
	plan := planOf(after(flow), jobs...)
	require.Len(t, plan.Events, message.MaxListed+2)
	assert.Equal(t, "n00 failed: BackoffLimitExceeded: Job has reached the specified backoff limit", plan.Events[0].Note)
	assert.Equal(t, "and 40 more", plan.Events[message.MaxListed].Note)
	assert.Less(t, len(condition(plan.Status, "Failed").Message), maxMessage)
	assert.Contains(t, condition(plan.Status, "Failed").Message, "; and 40 more")
}

func TestJobsOfOthersDontExpire(t *testing.T) {
	withTTL := func(job *batchv1.Job, seconds string) *batchv1.Job {
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, AnnotationTTL, seconds)
		return job
	}
	flow := makeFlow(node("a"))
	for range 3 {
		plan := planOf(flow, completeJob("a"), withTTL(completeJob("stranger"), "0"))
		assert.Empty(t, plan.Delete)
		flow = after(flow, completeJob("a"))
	}
	for _, text := range []string{"", "soon", "-1"} {
		_, ok := ttlOf(withTTL(completeJob("a"), text))
		assert.False(t, ok, text)
	}
}

// A pod that names the flow is waited for unless another controller has it.
func TestThePodOfAnotherControllerIsNotWaitedFor(t *testing.T) {
	flow := makeFlow(node("a"))
	pod := podOf(rendered(t, flow, flow.Spec.Flows[0].JobTemplate))
	plan := func() builder.Plan[*v1alpha1.JobFlow] {
		return Plan(flow, buildertest.WithWatched(buildertest.NewView(epoch), pod))
	}
	pod.OwnerReferences = nil
	assert.Empty(t, plan().Children)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "demo-a", UID: "u", Controller: new(true)}}
	assert.Len(t, plan().Children, 1)
}

func TestDescribeLongLists(t *testing.T) {
	assert.Equal(t, "x; x; x; x; x; x; x; x; x; x; and 2 more", enumerate(make([]int, 12), func(int) string { return "x" }))
}

// A pod on a lost cluster node is terminating, until someone deletes the node.
func TestAPodThatOutlivesItsGracePeriodIsNamed(t *testing.T) {
	for name, flow := range map[string]*v1alpha1.JobFlow{"node": makeFlow(node("a")), "items": makeFlow(each("a", "x"))} {
		t.Run(name, func(t *testing.T) {
			job := planOf(flow).Children[0].Object().(*batchv1.Job)
			job.Namespace, job.CreationTimestamp, job.UID = "default", at(-200), "uid"
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", OwnerReferences: []metav1.OwnerReference{
				{Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)},
			}}}
			pod.Spec.NodeName, pod.Status.Phase, pod.DeletionTimestamp = "n1", corev1.PodRunning, new(at(-40))
			plan := planOf(flow, job, pod)
			assert.NotContains(t, plan.Status.Status.Flows[0].Message, "pod")
			assert.Equal(t, 10*time.Second, plan.RequeueAfter)

			pod.DeletionTimestamp = new(at(-50))
			plan = planOf(plan.Status, job, pod)
			assert.Equal(t, "pod pod hasn't ended in its grace period: its node n1 may be lost", plan.Status.Status.Flows[0].Message)
			assert.Zero(t, plan.RequeueAfter)

			pod.Status.Phase = corev1.PodFailed
			assert.NotContains(t, after(plan.Status, job, pod).Status.Flows[0].Message, "pod")
		})
	}
}
