package fluxjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
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
	for _, kind := range []string{v1alpha1.ConditionJobFinished, v1alpha1.ConditionFailed, builder.ConditionStalled} {
		assert.Equal(t, "True LeaderFailed", s.is(kind))
	}
	assert.Equal(t, "False LeaderFailed", s.is(builder.ConditionReady))
	assert.Nil(t, s.job.Status.Admission)

	s = admitted(t)
	refused := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	refused.Status.Conditions = []metav1.Condition{{
		Type: builder.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "no", ObservedGeneration: 1}}
	s.children = []client.Object{refused}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(10))
	assert.Equal(t, "the MiniCluster is refused: no", s.message(v1alpha1.ConditionFailed))
	s.step(11)
	require.Len(t, s.plan.Edits, 1, "it is suspended, to be sure")
	assert.NotNil(t, s.job.Status.Admission)
	refused.Spec.Suspend = true
	s.step(12)
	assert.Nil(t, s.job.Status.Admission)
}

// A MiniCluster that can never be made must not hold its share for ever, and one that could be must say what is in the way.
func TestAMiniClusterThatIsNotMade(t *testing.T) {
	s := admitted(t)
	cluster := clusterOf(s.job, v1alpha1.MiniClusterStateStarting)
	ready := metav1.Condition{Type: builder.ConditionReady, Status: metav1.ConditionFalse, Reason: events.ReasonNotOwned, Message: "someone else's"}
	cluster.Status.Conditions = []metav1.Condition{ready}
	s.children = []client.Object{cluster}
	assert.Equal(t, []string{events.ReasonNotOwned}, s.step(6))
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Contains(t, s.message(builder.ConditionReady), "someone else's")

	stalled := metav1.Condition{
		Type: builder.ConditionStalled, Status: metav1.ConditionTrue, Reason: events.ReasonApplyFailed, Message: "no such thing", ObservedGeneration: 1}
	cluster.Status.Conditions = []metav1.Condition{stalled}
	s.children = []client.Object{cluster, jobOf(2)}
	s.step(7)
	assert.Nil(t, s.job.Status.CompletionTime, "it runs, whatever else can't be made")

	s.children = []client.Object{cluster}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(8))
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, "the MiniCluster is refused: no such thing", s.message(v1alpha1.ConditionFailed))
	cluster.Spec.Suspend = true
	s.step(9)
	assert.Nil(t, s.job.Status.Admission)
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
		meta.RemoveStatusCondition(&s.job.Status.Conditions, builder.ConditionReady)
		meta.RemoveStatusCondition(&s.job.Status.Conditions, builder.ConditionStalled)
		s.step(11)
		assert.Equal(t, want, s.is(builder.ConditionReady))
		assert.Equal(t, failed, s.is(builder.ConditionStalled) == "True LeaderFailed")
	}
}

func TestWhatHappensAfterTheEnd(t *testing.T) {
	s := running(t, func(s *v1alpha1.FluxJobSpec) {
		s.TTLSecondsAfterFinished, s.CleanupPolicy = ptr.To[int32](30), v1alpha1.CleanupMiniCluster
	})
	over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
	over.Status.CompletionTime = ptr.To(at(10))
	s.children = []client.Object{over, stopped(0)}
	s.step(11)
	assert.Empty(t, s.plan.Delete, "first the end is written")
	assert.Equal(t, soon, s.plan.RequeueAfter)
	s.step(12)
	assert.Equal(t, []client.Object{over}, s.plan.Delete)
	assert.Equal(t, 29*time.Second, s.plan.RequeueAfter)
	assert.False(t, s.plan.DeleteOwner)
	s.children = nil
	s.job.Generation = 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(13))
	s.step(41)
	assert.True(t, s.plan.DeleteOwner)
	assert.Empty(t, s.plan.Children)
}

func TestAJobThatIsBeingDeleted(t *testing.T) {
	s := running(t)
	s.job.DeletionTimestamp = ptr.To(at(9))
	s.step(10)
	assert.Equal(t, v1alpha1.FluxJobTerminating, s.job.Status.State)
	assert.Empty(t, s.plan.Children)
}
