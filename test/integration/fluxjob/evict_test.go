package fluxjob

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestAPreemptedJobStopsLinesUpAndRunsAgain(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1), preempting(10))
	p.watchPods(1)
	p.submit("low", forever)
	p.waitState("low", v1alpha1.FluxJobRunning)
	p.submit("next", "true") // creation times are whole seconds, so it may be by its name that it comes after low
	p.submit("urgent", "true", priority(10))
	p.waitState("urgent", v1alpha1.FluxJobSucceeded)

	low := p.wait("low", "low runs again", func(j *v1alpha1.FluxJob) bool {
		return j.Status.Attempts == 2 && j.Status.State == v1alpha1.FluxJobRunning
	})
	assert.Equal(t, v1alpha1.ReasonPreempted, low.Status.LastEviction.Reason)
	p.OneEvent("low", v1alpha1.ReasonPreempted)
	p.OneEvent("low", v1alpha1.ReasonRequeued)

	assert.Equal(t, v1alpha1.FluxJobWaiting, p.job("next").Status.State, "it came after low")
	assert.Empty(t, p.Events("next", v1alpha1.ReasonAdmitted))

	require.NoError(t, p.Client.Delete(t.Context(), low))
	p.waitState("next", v1alpha1.FluxJobSucceeded)
}

// A tenant who writes the highest priority there is into its job pushes out no one: the queue lets no namespace do that here.
func TestAPriorityThatNoOneGaveCountsForNothing(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1), func(s *v1alpha1.FluxSetupSpec) { s.Preemption = v1alpha1.PreemptionLowerPriority })
	p.submit("runs", forever)
	p.waitState("runs", v1alpha1.FluxJobRunning)
	p.submit("attacker", "true", priority(math.MaxInt32))
	attacker := p.waitReason("attacker", v1alpha1.ReasonWaitingForQuota)
	assert.Equal(t, ptr.To[int32](0), attacker.Status.Priority)
	assert.True(t, meta.IsStatusConditionTrue(attacker.Status.Conditions, v1alpha1.ConditionPriorityLimited))
	p.OneEvent("attacker", v1alpha1.ReasonPriorityLimited)
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("runs").Status.State)

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.PriorityLimits = []v1alpha1.FluxPriorityLimit{{Max: 1}} })
	p.waitState("attacker", v1alpha1.FluxJobSucceeded)
	assert.Equal(t, v1alpha1.ReasonPreempted, p.job("runs").Status.LastEviction.Reason, "once the queue lets it")
}

func TestACohortTakesBackWhatItLent(t *testing.T) {
	p := newPlace(t)
	p.manage()
	mine, yours := p.Namespace+"-mine", p.Namespace+"-yours"
	cohort := func(s *v1alpha1.FluxSetupSpec) {
		preempting(1)(s)
		s.Cohort = p.Namespace
	}
	in := func(queue string) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) { j.Spec.Queue = queue }
	}
	p.setupNamed(mine, clusters(1), cohort)
	p.setupNamed(yours, clusters(1), cohort)
	p.watchPods(2)
	p.submit("own", forever, in(yours))
	p.waitState("own", v1alpha1.FluxJobRunning)
	p.submit("borrower", forever, in(yours))
	p.waitState("borrower", v1alpha1.FluxJobRunning)

	p.submit("patient", "true", in(mine))
	p.waitReason("patient", v1alpha1.ReasonWaitingForQuota)
	p.submit("urgent", "true", in(mine), priority(1))
	p.waitState("urgent", v1alpha1.FluxJobSucceeded)
	p.wait("borrower", "borrower had to go", func(j *v1alpha1.FluxJob) bool {
		return j.Status.LastEviction != nil && j.Status.LastEviction.Reason == v1alpha1.ReasonPreempted
	})
	p.waitState("patient", v1alpha1.FluxJobSucceeded)
	p.waitState("borrower", v1alpha1.FluxJobRunning)
	assert.Equal(t, int32(1), p.job("own").Status.Attempts)
}

func TestPodsThatAreNotReadyInTimeAreRequeued(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1), func(s *v1alpha1.FluxSetupSpec) {
		s.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 1, BackoffSeconds: 600, BackoffMaxSeconds: 600}
	})
	p.submit("stuck", "true", func(j *v1alpha1.FluxJob) {
		j.Spec.MiniCluster.Pod.NodeSelector = map[string]string{"no": "such-node"}
	})
	p.submit("next", "true", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true })
	stuck := p.waitReason("stuck", v1alpha1.ReasonBackoff)
	assert.Equal(t, int32(1), stuck.Status.Requeues)
	assert.Greater(t, time.Until(stuck.Status.RequeueTime.Time), 5*time.Minute)
	assert.Empty(t, p.pods("stuck"))

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.Readiness = nil })
	p.update("next", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = false })
	p.waitState("next", v1alpha1.FluxJobSucceeded)
}

func TestSuspendResumeDrain(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	p.submit("a", forever)
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.update("a", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true })
	p.waitState("a", v1alpha1.FluxJobSuspended)
	assert.Empty(t, p.pods("a"))
	p.Eventually("the queue has it back", func() bool { return p.queue(p.Namespace).Status.AdmittedWorkloads == 0 })

	p.update("a", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = false })
	p.wait("a", "a runs again", func(j *v1alpha1.FluxJob) bool {
		return j.Status.Attempts == 2 && j.Status.State == v1alpha1.FluxJobRunning
	})

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHold })
	p.submit("b", "true")
	p.waitReason("b", v1alpha1.ReasonQueueStopped)
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("a").Status.State)
	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHoldAndDrain })
	p.waitReason("a", v1alpha1.ReasonQueueStopped)
	assert.Empty(t, p.pods("a"))

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) {
		s.StopPolicy, s.Quota.MiniClusters = v1alpha1.StopNone, ptr.To[int32](2)
	})
	p.waitState("b", v1alpha1.FluxJobSucceeded)
	p.wait("a", "a runs a third time", func(j *v1alpha1.FluxJob) bool {
		return j.Status.Attempts == 3 && j.Status.State == v1alpha1.FluxJobRunning
	})
}
