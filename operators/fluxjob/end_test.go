package fluxjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

func TestFailures(t *testing.T) {
	s := running(t)
	over := clusterOf(s.job, v1alpha1.MiniClusterStateFailed)
	over.Status.ExitCode, over.Status.Restarts = ptr.To[int32](3), 2
	over.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonLeaderFailed, Message: "the leader failed"}}
	s.children = []client.Object{over, stopped(0)}
	assert.Equal(t, []string{v1alpha1.ReasonLeaderFailed}, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, ptr.To[int32](3), s.job.Status.ExitCode)
	assert.Equal(t, int32(2), s.job.Status.Restarts)
	assert.Equal(t, "exit code 3: the leader failed", s.message(v1alpha1.ConditionJobFinished))
	for _, kind := range []string{v1alpha1.ConditionJobFinished, v1alpha1.ConditionFailed, events.ConditionStalled} {
		assert.Equal(t, "True LeaderFailed", s.is(kind))
	}
	assert.Equal(t, "False LeaderFailed", s.is(events.ConditionReady))
	assert.Nil(t, s.job.Status.Admission)

	s = admitted(t)
	refused := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	refused.Status.Conditions = []metav1.Condition{{
		Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "no", ObservedGeneration: 1}}
	s.children = []client.Object{refused}
	s.refused("no", refused)
}

// refused takes a job whose MiniCluster is refused to where it waits for another spec.
func (s *fixture) refused(why string, cluster *v1alpha1.MiniCluster) {
	t := s.t
	t.Helper()
	told := s.step(10)
	assert.Empty(t, s.plan.Edits, "first it is written")
	assert.Equal(t, "False InvalidSpec", s.is(events.ConditionReady))
	told = append(told, s.step(11)...)
	if cluster != nil {
		assert.Equal(t, v1alpha1.FluxJobStopping, s.job.Status.State)
		assert.Equal(t, "the MiniCluster is refused: "+why, s.message(events.ConditionReady), "there are no pods to stop")
		require.Len(t, s.plan.Edits, 1, "it is suspended, to be sure")
		assert.NotNil(t, s.job.Status.Admission)
		cluster.Spec.Suspend = true
	}
	told = append(told, s.step(12)...)
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, told)
	why = "the MiniCluster is refused: " + why
	stays := func() {
		t.Helper()
		assert.Nil(t, s.job.Status.Admission, "others may have the share")
		assert.Nil(t, s.job.Status.CompletionTime)
		assert.Equal(t, v1alpha1.FluxJobRequested, s.job.Status.State)
		for _, kind := range []string{v1alpha1.ConditionJobRequested, events.ConditionReady} {
			assert.Equal(t, "False InvalidSpec", s.is(kind))
		}
		assert.Equal(t, "True InvalidSpec", s.is(events.ConditionStalled))
		assert.Equal(t, why, s.message(events.ConditionReady))
		assert.True(t, needs.Refused(s.job))
	}
	stays()
	assert.Empty(t, s.step(13))
	s.setups = []client.Object{offer(s.job)}
	assert.Empty(t, s.step(14), "a share that it is given all the same is declined")
	stays()

	again := *s
	again.job = s.job.DeepCopy()
	again.job.Spec.Suspend, again.job.Generation = true, 2
	again.step(15)
	assert.Equal(t, v1alpha1.FluxJobSuspended, again.job.Status.State)
	again.job.Spec.Suspend, again.job.Generation = false, 3
	again.setups = []client.Object{makeSetup("q")}
	again.step(16)
	assert.Equal(t, v1alpha1.FluxJobWaiting, again.job.Status.State, "it is tried again as it is")

	s.job.Spec.Command, s.job.Generation = "corrected", 2
	assert.False(t, needs.Refused(s.job))
	s.setups = []client.Object{offer(s.job)}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(20))
	assert.Empty(t, s.is(events.ConditionStalled))
	s.step(21)
	if cluster == nil {
		assert.Len(t, s.plan.Children, 1)
		return
	}
	assert.Equal(t, []client.Object{cluster}, s.plan.Delete, "that of the spec before")
	s.children = nil
	s.step(22)
	assert.Len(t, s.plan.Children, 1, "it isn't taken for one that was deleted by hand")
}

// What the API server says of the MiniCluster itself, the builder reports in the job's conditions.
func TestAMiniClusterThatTheAPIServerRefuses(t *testing.T) {
	s := admitted(t)
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		status := metav1.ConditionTrue
		if kind == events.ConditionReady {
			status = metav1.ConditionFalse
		}
		meta.SetStatusCondition(&s.job.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: events.ReasonApplyFailed, Message: "spec.tasks is wrong", ObservedGeneration: 1, LastTransitionTime: at(7)})
	}
	s.refused("spec.tasks is wrong", nil)
}

// A spec that is corrected while the share of the one before is given back is tried.
func TestASpecThatIsCorrectedWhileItIsRefused(t *testing.T) {
	s := admitted(t)
	cluster := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	cluster.Status.Conditions = []metav1.Condition{{
		Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "no", ObservedGeneration: 1}}
	s.children = []client.Object{cluster}
	s.step(10)
	s.job.Spec.Command, s.job.Generation = "corrected", 2
	s.setups = []client.Object{makeSetup("q")}
	s.step(11)
	cluster.Spec.Suspend = true
	s.step(12)
	s.step(13)
	assert.False(t, needs.Refused(s.job))
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, v1alpha1.ReasonSpecChanged, s.job.Status.LastEviction.Reason)

	s = admitted(t)
	s.children = []client.Object{cluster}
	cluster.Spec.Suspend = false
	s.job.Spec.Command, s.job.Generation = "corrected", 2
	s.step(10)
	assert.Equal(t, v1alpha1.ReasonSpecChanged, s.job.Status.Admission.Evicted.Reason, "what is refused is the spec before")
}

// No one knows whether the command of a MiniCluster that is gone has run to its end, so it isn't run again unasked.
func TestAMiniClusterThatIsDeletedByHand(t *testing.T) {
	for name, left := range map[string]func(*v1alpha1.MiniCluster) []client.Object{
		"gone": func(*v1alpha1.MiniCluster) []client.Object { return nil },
		"being deleted": func(c *v1alpha1.MiniCluster) []client.Object {
			c.DeletionTimestamp = new(at(9))
			return []client.Object{c, jobOf(1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(t)
			s.children = left(s.children[0].(*v1alpha1.MiniCluster))
			assert.Equal(t, []string{v1alpha1.ReasonMiniClusterDeleted}, s.step(10))
			assert.Empty(t, s.plan.Children)
			assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
			assert.Equal(t, "True MiniClusterDeleted", s.is(v1alpha1.ConditionFailed))
			assert.Equal(t, s.children == nil, s.job.Status.Admission == nil, "the share is kept as long as pods may run")
			s.children = nil
			s.step(11)
			s.step(12)
			assert.Nil(t, s.job.Status.Admission)
			assert.Empty(t, s.plan.Children)
		})
	}

	s := running(t) // an edit of the spec doesn't change that
	s.job.Spec.Size, s.job.Generation = ptr.To[int32](3), 2
	require.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(9))
	s.children = nil
	assert.Equal(t, []string{v1alpha1.ReasonMiniClusterDeleted}, s.step(10))
	assert.Equal(t, "True MiniClusterDeleted", s.is(v1alpha1.ConditionFailed))
	s.setups = []client.Object{offer(s.job)}
	s.step(11)
	s.step(12)
	assert.Empty(t, s.plan.Children, "the command isn't run again")

	preempt := func(s *fixture) {
		setup := offer(s.job)
		setup.Status.Reservations[0].Attempt = s.job.Status.Attempts
		setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonPreempted, Time: at(9)}
		s.setups = []client.Object{setup}
	}
	for name, evict := range map[string]func(s *fixture){
		"preempted": preempt,
		"suspended": func(s *fixture) { s.job.Spec.Suspend, s.job.Generation = true, 2 },
	} {
		t.Run(name+" in the same pass", func(t *testing.T) {
			s := running(t)
			evict(s)
			s.children = nil
			assert.Equal(t, []string{v1alpha1.ReasonMiniClusterDeleted}, s.step(10))
			assert.Equal(t, "True MiniClusterDeleted", s.is(v1alpha1.ConditionFailed))
			assert.Nil(t, s.job.Status.Admission)
		})
	}

	s = running(t) // between two runs nothing is lost
	s.job.Spec.Suspend, s.job.Generation = true, 2
	s.step(10)
	s.children = nil
	s.step(11)
	require.Nil(t, s.job.Status.Admission)
	s.job.Spec.Suspend, s.job.Generation = false, 3
	s.setups = []client.Object{offer(s.job)}
	s.step(12)
	s.step(13)
	assert.Len(t, s.plan.Children, 1)
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
}

// A pod whose MiniCluster and Job are gone holds the share until it has ended. A pod of an earlier job of the same name doesn't.
func TestPodsThatAreLeftHoldTheShare(t *testing.T) {
	s := running(t)
	pod := podOf(s.job.UID)
	s.children, s.setups = nil, append(s.setups, pod)
	assert.Equal(t, []string{v1alpha1.ReasonMiniClusterDeleted}, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	s.step(11)
	require.NotNil(t, s.job.Status.Admission, "the pod runs")
	pod.Status.Phase = corev1.PodFailed
	s.step(12)
	assert.Nil(t, s.job.Status.Admission)

	s = running(t)
	s.children, s.setups = nil, append(s.setups, podOf("of an earlier job"))
	s.step(10)
	assert.Nil(t, s.job.Status.Admission)
}

// podOf returns a pod that runs, of a job a with a UID.
func podOf(uid types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "a-0-x", Labels: map[string]string{LabelFluxJob: "a", LabelUID: string(uid)},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// A MiniCluster that can never be made must not hold its share for ever, and one that could be must say what is in the way.
func TestAMiniClusterThatIsNotMade(t *testing.T) {
	s := admitted(t)
	cluster := clusterOf(s.job, v1alpha1.MiniClusterStateStarting)
	ready := metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: events.ReasonNotOwned, Message: "someone else's"}
	cluster.Status.Conditions = []metav1.Condition{ready}
	s.children = []client.Object{cluster}
	assert.Equal(t, []string{v1alpha1.ReasonMiniClusterBlocked}, s.step(6))
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Equal(t, "False MiniClusterBlocked", s.is(events.ConditionReady), "the builder takes its own reasons back")
	assert.Contains(t, s.message(events.ConditionReady), "someone else's")

	ready.Reason, ready.Message = v1alpha1.ReasonPodsRefused, "violates PodSecurity"
	cluster.Status.Conditions = []metav1.Condition{ready}
	assert.Equal(t, []string{v1alpha1.ReasonMiniClusterBlocked}, s.step(6))
	assert.Contains(t, s.message(events.ConditionReady), "PodsRefused: violates PodSecurity")

	stalled := metav1.Condition{
		Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: events.ReasonApplyFailed, Message: "no such thing", ObservedGeneration: 1}
	cluster.Status.Conditions = []metav1.Condition{stalled}
	s.children = []client.Object{cluster, jobOf(2)}
	s.step(7)
	assert.Nil(t, s.job.Status.CompletionTime, "it runs, whatever else can't be made")

	s.children = []client.Object{cluster}
	s.refused("no such thing", cluster)
}

// What a pass that goes wrong reports in Ready, the builder takes back later.
func TestTheEndIsSaidAgainAfterAnError(t *testing.T) {
	for want, failed := range map[string]bool{"True Succeeded": false, "False LeaderFailed": true} {
		s := running(t)
		over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
		if failed {
			over.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonLeaderFailed}}
		}
		s.children = []client.Object{over, stopped(0)}
		s.step(10)
		meta.RemoveStatusCondition(&s.job.Status.Conditions, events.ConditionReady)
		meta.RemoveStatusCondition(&s.job.Status.Conditions, events.ConditionStalled)
		s.step(11)
		assert.Equal(t, want, s.is(events.ConditionReady))
		assert.Equal(t, failed, s.is(events.ConditionStalled) == "True LeaderFailed")
	}
}

func TestWhatHappensAfterTheEnd(t *testing.T) {
	s := running(t, func(s *v1alpha1.FluxJobSpec) {
		s.TTLSecondsAfterFinished, s.CleanupPolicy = ptr.To[int32](30), v1alpha1.CleanupMiniCluster
	})
	over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
	over.Status.CompletionTime = new(at(10))
	s.children = []client.Object{over, stopped(0)}
	s.step(11)
	assert.Empty(t, s.plan.Delete, "first the end is written")
	assert.Equal(t, lifecycle.Soon, s.plan.RequeueAfter)
	s.step(12)
	assert.Equal(t, []client.Object{over}, s.plan.Delete)
	assert.Equal(t, 30*time.Second, s.plan.RequeueAfter, "from the record of the end")
	assert.False(t, s.plan.DeleteOwner)
	s.children = nil
	s.job.Generation = 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(13))
	s.step(42)
	assert.True(t, s.plan.DeleteOwner)
	assert.Empty(t, s.plan.Children)
}

func TestAJobThatIsBeingDeleted(t *testing.T) {
	s := running(t)
	s.job.DeletionTimestamp = new(at(9))
	s.step(10)
	assert.Equal(t, v1alpha1.FluxJobTerminating, s.job.Status.State)
	assert.Empty(t, s.plan.Children)
	assert.NotNil(t, s.job.Status.Admission)

	// A finalizer of someone else may keep the job for ever.
	s.children = nil
	s.step(11)
	assert.Nil(t, s.job.Status.Admission, "the MiniCluster is gone")

	job := makeJob("a", 1)
	job.DeletionTimestamp = new(at(9))
	s = &fixture{t: t, job: job, setups: []client.Object{offer(job)}}
	s.step(10)
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Attempts, "what the queue reserved is declined")
}

// A user suspends the MiniCluster of a job whose spec has changed meanwhile. It can't be resumed as it is.
func TestAMiniClusterThatIsSuspendedByHandAfterAnEdit(t *testing.T) {
	s := running(t)
	s.job.Spec.Command, s.job.Generation = "another", 2
	require.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(9))
	cluster := s.children[0].(*v1alpha1.MiniCluster)
	cluster.Spec.Suspend = true
	s.children = []client.Object{cluster, stopped(1)}
	assert.Equal(t, []string{v1alpha1.ReasonSpecChanged}, s.step(10))
	assert.Empty(t, s.plan.Delete)
	assert.NotNil(t, s.job.Status.Admission, "a pod has yet to stop")
	s.children[1] = stopped(0)
	assert.Equal(t, []string{v1alpha1.ReasonRequeued}, s.step(11))
	s.setups = []client.Object{offer(s.job)}
	s.admit(12)
	s.step(13)
	assert.Equal(t, []client.Object{cluster}, s.plan.Delete)
	s.children = nil
	s.step(14)
	assert.Len(t, s.plan.Children, 1)
	assert.Nil(t, s.job.Status.CompletionTime)
}
