package fluxjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

func TestAReservationOfWhatIsNoLongerNeededIsDeclined(t *testing.T) {
	job := makeJob("a", 1)
	setup := offer(job)
	job.Generation, job.Status.Queue = 2, "q"
	s := &fixture{t: t, job: job, setups: []client.Object{setup}}
	s.step(5)
	assert.NotNil(t, s.job.Status.Admission, "a change that needs the same")

	job = makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) { s.Size = ptr.To[int32](3) })
	job.Generation, job.Status.Queue = 2, "q"
	s = &fixture{t: t, job: job, setups: []client.Object{setup}}
	s.step(5)
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Attempts)
	assert.Equal(t, v1alpha1.ReasonSpecChanged, s.job.Status.LastEviction.Reason)

	s = admitted(t)
	s.job.Spec.Size, s.job.Generation = ptr.To[int32](3), 2
	assert.Equal(t, []string{v1alpha1.ReasonSpecChanged, v1alpha1.ReasonRequeued}, append([]string{v1alpha1.ReasonSpecChanged}, s.step(6)...),
		"before the MiniCluster is made")
	assert.Empty(t, s.plan.Children)
	assert.Nil(t, s.job.Status.Admission)
}

// What an older schema let in, or a newer program refuses: a job that runs goes on, and can be suspended.
func TestAnInvalidJobThatRuns(t *testing.T) {
	invalid := func(s *fixture) {
		s.job.Spec.MiniCluster = &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{{Image: "i"}}} // beside an image
		s.job.Generation = 2
		require.NotEmpty(t, needs.Problems(s.job))
	}
	s := running(t)
	invalid(s)
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	s.job.Spec.Suspend, s.job.Generation = true, 3
	assert.Equal(t, []string{v1alpha1.ReasonSuspended}, s.step(11))
	require.Len(t, s.plan.Edits, 1)
	assert.True(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)

	s = admitted(t)
	invalid(s)
	s.step(10)
	assert.Empty(t, s.plan.Children, "nothing is made of it")
	s.setups = []client.Object{makeSetup("q")}
	s.step(11)
	assert.Nil(t, s.job.Status.Admission)
	s.step(12)
	assert.Equal(t, "True InvalidSpec", s.is(events.ConditionStalled))
}

func TestAJobThatMovesToAnotherQueue(t *testing.T) {
	job := makeJob("a", 1)
	s := &fixture{t: t, job: job, setups: []client.Object{makeSetup("q")}}
	s.step(5)
	s.job.Spec.Queue, s.job.Generation = "p", 2
	reserved := offer(s.job) // so soon
	reserved.Name = "p"
	s.setups = []client.Object{reserved}
	s.step(6)
	assert.Equal(t, "p", s.job.Status.Queue)
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Attempts, "what q may have reserved is declined")
	s.step(7)
	assert.Nil(t, s.job.Status.Admission)
	reserved = offer(s.job)
	reserved.Name = "p"
	s.setups = []client.Object{reserved}
	s.step(8)
	assert.Equal(t, "p", s.job.Status.Admission.Queue)
}

func TestAPreemption(t *testing.T) {
	s := running(t)
	setup := offer(makeJob("a", 1))
	setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonPreempted, Message: "preempted", Time: at(20)}
	s.setups = []client.Object{setup}
	assert.Equal(t, []string{v1alpha1.ReasonPreempted}, s.step(20))
	assert.Equal(t, v1alpha1.FluxJobStopping, s.job.Status.State)
	assert.NotNil(t, s.job.Status.Admission)
	require.Len(t, s.plan.Edits, 1)
	cluster := s.plan.Edits[0].After.(*v1alpha1.MiniCluster)
	assert.True(t, cluster.Spec.Suspend)

	cluster.Generation = 2
	s.children = []client.Object{cluster, jobOf(2)}
	s.step(21)
	assert.Empty(t, s.plan.Edits)
	assert.NotNil(t, s.job.Status.Admission, "its operator has yet to see it")
	cluster.Status.ObservedGeneration = 2
	s.step(22)
	assert.NotNil(t, s.job.Status.Admission, "its pods run")
	s.children[1] = stopped(1)
	s.step(23)
	assert.NotNil(t, s.job.Status.Admission, "a pod has yet to stop")
	s.children[1] = stopped(0)
	assert.Equal(t, []string{v1alpha1.ReasonRequeued}, s.step(24))
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, v1alpha1.ReasonPreempted, s.job.Status.LastEviction.Reason)
	assert.Nil(t, s.job.Status.RequeueTime, "it lines up where it was")

	s.setups = []client.Object{offer(s.job)}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(30))
	assert.Empty(t, s.plan.Edits)
	s.step(31)
	require.Len(t, s.plan.Edits, 1)
	assert.False(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)

	cluster.Spec.Size = 1000 // kubectl scale
	s.step(32)
	assert.Empty(t, s.plan.Edits)
	assert.Equal(t, []client.Object{cluster}, s.plan.Delete, "the MiniCluster is larger than the reservation")
	cluster.Spec.Size = 2

	s.job.Spec.Command, s.job.Generation = "false", 2
	s.step(32)
	assert.Empty(t, s.plan.Edits)
	assert.Equal(t, []client.Object{cluster}, s.plan.Delete, "what is wanted now is another MiniCluster")
}

// kubectl scale and kubectl edit also change a MiniCluster that is suspended. It is resumed only within what its job holds.
func TestASuspendedMiniClusterThatWasScaled(t *testing.T) {
	for name, tt := range map[string]struct {
		allowed       int32 // the template's maxSize
		size, maxSize int32 // the MiniCluster's
		resumed       bool
	}{
		"not at all":                {0, 2, 0, true},
		"down":                      {0, 1, 0, true},
		"up":                        {0, 3, 0, false},
		"up to its maxSize":         {4, 4, 4, true},
		"beyond a removed maxSize":  {4, 5, 0, false},
		"with a larger maxSize":     {4, 2, 5, false},
		"with a maxSize of its own": {0, 2, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := admitted(t, func(s *v1alpha1.FluxJobSpec) {
				s.MiniCluster = &v1alpha1.MiniClusterSpec{MaxSize: tt.allowed, Containers: []v1alpha1.MiniClusterContainer{{Image: s.Image}}}
				s.Image, s.Command = "", ""
			})
			cluster := clusterOf(s.job, v1alpha1.MiniClusterStateSuspended)
			cluster.Spec.Suspend, cluster.Spec.Size, cluster.Spec.MaxSize = true, tt.size, tt.maxSize
			s.children = []client.Object{cluster, stopped(0)}
			s.step(6)
			if !tt.resumed {
				assert.Empty(t, s.plan.Edits)
				assert.Equal(t, []client.Object{cluster}, s.plan.Delete)
				return
			}
			assert.Empty(t, s.plan.Delete)
			require.Len(t, s.plan.Edits, 1)
			assert.False(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)
		})
	}
}

func TestPodsThatAreNotReadyInTime(t *testing.T) {
	readiness := func(s *v1alpha1.FluxSetupSpec) {
		s.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 10, BackoffSeconds: 60, BackoffMaxSeconds: 100, RequeueLimit: ptr.To[int32](2)}
	}
	s := admitted(t)
	for n, wait := range []int{60, 100} {
		setup := makeSetup("q", readiness)
		setup.Status.Reservations = offer(makeJob("a", 1)).Status.Reservations
		setup.Status.Reservations[0].Attempt = s.job.Status.Attempts
		setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonNotReady, Message: "too slow", Time: at(20)}
		s.setups = []client.Object{setup}
		s.step(20)
		assert.Nil(t, s.job.Status.Admission)
		assert.Equal(t, int32(n+1), s.job.Status.Requeues)
		assert.Equal(t, new(at(20+wait)), s.job.Status.RequeueTime)
		s.setups = []client.Object{offer(s.job)}
		s.step(200)
		assert.NotNil(t, s.job.Status.Admission)
		assert.Nil(t, s.job.Status.RequeueTime)
	}
	setup := makeSetup("q", readiness)
	setup.Status.Reservations = s.setups[0].(*v1alpha1.FluxSetup).Status.Reservations
	setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonNotReady, Message: "too slow", Time: at(20)}
	s.setups = []client.Object{setup}
	s.step(300)
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, "True NotReady", s.is(v1alpha1.ConditionFailed))

	ready := running(t)
	ready.job.Status.Requeues = 2
	ready.step(8)
	assert.Zero(t, ready.job.Status.Requeues, "it was ready")
}

func TestSuspension(t *testing.T) {
	s := running(t)
	s.job.Spec.Suspend, s.job.Generation = true, 2
	assert.Equal(t, []string{v1alpha1.ReasonSuspended}, s.step(10))
	require.Len(t, s.plan.Edits, 1)
	cluster := s.plan.Edits[0].After.(*v1alpha1.MiniCluster)
	cluster.Generation, cluster.Status.ObservedGeneration = 2, 2
	s.children = []client.Object{cluster, stopped(0)}
	s.step(11)
	assert.Nil(t, s.job.Status.Admission)
	s.step(12)
	assert.Equal(t, v1alpha1.FluxJobSuspended, s.job.Status.State)
	assert.Nil(t, s.job.Status.Position)
	assert.Equal(t, "False Suspended", s.is(v1alpha1.ConditionJobWaitingForResources))

	cluster.Spec.Suspend = false
	s.step(13)
	require.Len(t, s.plan.Edits, 1, "someone resumed the MiniCluster by hand")
	assert.True(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)

	cluster.Spec.Suspend = true
	s.job.Spec.Suspend, s.job.Generation = false, 3
	s.setups = []client.Object{makeSetup("q")}
	s.step(14)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
}

// What the MiniCluster says of an attempt that is over doesn't count for the attempt that begins.
func TestAnAdmissionWhileSomeoneHasResumedTheMiniCluster(t *testing.T) {
	s := running(t)
	cluster := s.children[0].(*v1alpha1.MiniCluster)
	s.job.Spec.Suspend, s.job.Generation = true, 2
	s.step(10)
	s.children = []client.Object{s.plan.Edits[0].After, stopped(0)}
	s.children[0].(*v1alpha1.MiniCluster).Generation, s.children[0].(*v1alpha1.MiniCluster).Status.ObservedGeneration = 2, 2
	s.step(11)
	require.Nil(t, s.job.Status.Admission)
	s.job.Spec.Suspend, s.job.Generation = false, 3
	s.setups = []client.Object{offer(s.job)}
	s.children[0] = cluster
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(12))
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Equal(t, "False Starting", s.is(v1alpha1.ConditionJobRunning))
	require.Len(t, s.plan.Edits, 1)
	assert.True(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)
}
