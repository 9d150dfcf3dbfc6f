package daemonjob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestTheOthersGoOnAfterAFailure(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create(script(`echo "on $NODE"; test $NODE != node-2`))
	job := p.waitState("demo", v1alpha1.StateFailed)
	assert.Equal(t, "desired 3, active 0, succeeded 2, failed 1, waiting 0, skipped 0", countsOf(job))
	assert.Equal(t, "node-2", job.Status.FailedNodes)
	require.Len(t, job.Status.Failures, 1)
	assert.Equal(t, "demo-node-2", job.Status.Failures[0].Job)
	assert.Equal(t, "BackoffLimitExceeded: Job has reached the specified backoff limit", job.Status.Failures[0].Message)
	failed := p.OneEvent("demo", v1alpha1.ReasonJobFailed)
	assert.Equal(t, "demo-node-2", failed.Related.Name)
	assert.Contains(t, p.OneEvent("demo", v1alpha1.ReasonFailed).Note, "2 of 3 nodes succeeded, 1 failed: node-2 failed")
	assert.Equal(t, "on node-2", p.Logs("job/demo-node-2"), "what failed can be looked at")
}

func TestFailFastStopsWhatRuns(t *testing.T) {
	p := newPlace(t)
	p.manage()
	spec := script(`test $NODE = minikube && exit 1; sleep 300`)
	spec.Parallelism = new(intstr.FromInt32(2))
	spec.FailurePolicy = v1alpha1.FailureFailFast
	p.create(spec)
	job := p.waitState("demo", v1alpha1.StateFailed)
	assert.Equal(t, "desired 3, active 0, succeeded 0, failed 2, waiting 0, skipped 1", countsOf(job))
	assert.Equal(t, v1alpha1.ReasonFailFast, meta.FindStatusCondition(job.Status.Conditions, "Failed").Reason)
	p.Eventually("what ran is stopped", func() bool { return len(p.Jobs()) == 1 })
	assert.Equal(t, []string{"demo-minikube"}, p.Jobs())
	p.Eventually("its pods too", func() bool { return len(p.pods("demo")) == 1 })
}

// Pause survives the manager; a retry runs again what failed, and goes on.
func TestPauseAndRetry(t *testing.T) {
	p := newPlaceAlone(t)
	stop := p.manage()
	spec := script(`test $NODE != minikube`)
	spec.Parallelism = new(intstr.FromInt32(1))
	spec.FailurePolicy = v1alpha1.FailurePause
	p.create(spec)
	job := p.waitReason(v1alpha1.ReasonPaused)
	assert.True(t, job.Status.Paused)
	assert.Equal(t, v1alpha1.StatePaused, job.Status.State)
	assert.True(t, meta.IsStatusConditionTrue(job.Status.Conditions, "Stalled"))
	p.OneEvent("demo", v1alpha1.ReasonPaused)
	stop()

	require.NoError(t, p.Client.DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(p.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	p.Eventually("the Job that failed is gone", func() bool { return len(p.Jobs()) == 0 })
	p.manage()
	p.AwaitPass(daemonjob.Name, func() {
		p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Template.Spec.Containers[0].Command[2] = "echo mended on $NODE" })
	})
	assert.True(t, p.waitReason(v1alpha1.ReasonPaused).Status.Paused)
	assert.Empty(t, p.Jobs())

	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Retry = 1 })
	job = p.waitState("demo", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 3, active 0, succeeded 3, failed 0, waiting 0, skipped 0", countsOf(job))
	assert.Equal(t, "mended on minikube", p.Logs("job/demo-minikube"))
	p.OneEvent("demo", v1alpha1.ReasonRetried)
	p.OneEvent("demo", v1alpha1.ReasonPaused)
}

func TestARetryOfAJobThatHasFailed(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create(script(`test $NODE != node-2`))
	p.waitState("demo", v1alpha1.StateFailed)
	p.edit(func(s *v1alpha1.DaemonJobSpec) {
		s.Retry = 1
		s.Template.Spec.Containers[0].Command[2] = "echo mended"
	})
	job := p.waitState("demo", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 3, active 0, succeeded 3, failed 0, waiting 0, skipped 0", countsOf(job))
	assert.Nil(t, meta.FindStatusCondition(job.Status.Conditions, "Failed"))
	assert.Equal(t, "mended", p.Logs("job/demo-node-2"))
	assert.Empty(t, p.Logs("job/demo-node-3"), "it had succeeded")
}

func TestSuspendAndResume(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	p.addNode("b")
	p.manage()
	spec := p.onPool("forever")
	spec.Parallelism = new(intstr.FromInt32(1))
	p.create(spec)
	p.waitCounts("desired 2, active 1, succeeded 0, failed 0, waiting 0, skipped 0")
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Suspend = true })
	job := p.waitReason(v1alpha1.ReasonSuspended)
	assert.True(t, meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionSuspended))
	assert.Nil(t, job.Status.ActiveSince)
	p.waitCounts("desired 2, active 0, succeeded 0, failed 0, waiting 0, skipped 0")
	assert.EqualValues(t, 1, p.get("demo").Status.Suspended)
	p.Eventually("its pod is deleted", func() bool { return len(p.pods("demo")) == 0 })
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Suspend = false })
	p.Eventually("its pod is back", func() bool { return len(p.pods("demo")) == 1 })
	p.wait("demo", "it is not suspended", func(j *v1alpha1.DaemonJob) bool {
		return meta.IsStatusConditionFalse(j.Status.Conditions, v1alpha1.ConditionSuspended)
	})
	assert.Len(t, p.Jobs(), 1)
	p.OneEvent("demo", v1alpha1.ReasonSuspended)
	p.OneEvent("demo", v1alpha1.ReasonResumed)
}

// A second pod on the node would fail p.pods.
func TestAJobThatSomeoneDeletesIsMadeAgainOnceItsPodsHaveEnded(t *testing.T) {
	const node = "node-2"
	p := newPlace(t)
	p.manage()
	dir := t.TempDir()
	trapped, end := filepath.Join(dir, "trapped"), filepath.Join(dir, "end")
	spec := script("trap '" + harness.ScriptUntil(end) + "; exit 1' TERM; touch " + trapped + "; while :; do sleep 0.1; done")
	spec.GlobalParams.NodeName = node
	spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](24 * 3600)
	p.create(spec)
	traps := func() bool {
		_, err := os.Stat(trapped)
		return err == nil
	}
	p.Eventually("its script traps the signal", traps)
	p.Eventually("its pod runs", func() bool { return p.pods("demo")[node].Status.Phase == corev1.PodRunning })
	pod := p.pods("demo")[node]
	first := &batchv1.Job{}
	key := client.ObjectKey{Namespace: p.Namespace, Name: "demo-" + node}
	require.NoError(t, p.Client.Get(t.Context(), key, first))
	require.NoError(t, p.Client.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	job := p.wait("demo", "it waits, and says so", func(j *v1alpha1.DaemonJob) bool {
		return strings.Contains(meta.FindStatusCondition(j.Status.Conditions, "Ready").Message, "1 waiting for old pods to end ("+node+" "+pod.Name+")")
	})
	assert.EqualValues(t, 1, job.Status.Active)
	require.NoError(t, os.Remove(trapped))
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	p.Eventually("there is another Job", func() bool {
		var again batchv1.Job
		return p.Client.Get(t.Context(), key, &again) == nil && again.UID != first.UID
	})
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(&pod), &pod); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		assert.Equal(t, corev1.PodFailed, pod.Status.Phase)
	}
	p.Eventually("the script of the next pod writes no more into the directory", traps)
}

func TestADeadlineHoldsWhileNoManagerRuns(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	p.addNode("b")
	stop := p.manage()
	spec := p.onPool("forever")
	spec.Parallelism = new(intstr.FromInt32(1))
	spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
	p.create(spec)
	job := p.waitCounts("desired 2, active 1, succeeded 0, failed 0, waiting 0, skipped 0")
	stop()
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1) }) // not before: it may take longer to start
	deadline := job.Status.ActiveSince.Add(time.Second)
	p.Eventually("the deadline has passed", func() bool { return time.Now().After(deadline) })
	assert.Equal(t, v1alpha1.StateRunning, p.get("demo").Status.State)
	p.manage()
	job = p.waitState("demo", v1alpha1.StateFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, meta.FindStatusCondition(job.Status.Conditions, "Failed").Reason)
	assert.Equal(t, "desired 2, active 0, succeeded 0, failed 1, waiting 0, skipped 1", countsOf(job))
	p.Eventually("what ran is stopped", func() bool { return len(p.Jobs()) == 0 })
}

// A deadline comes without any event.
func TestADeadlineComesByItself(t *testing.T) {
	p := newPlace(t)
	p.manage()
	spec := p.onPool("forever") // there is no node
	spec.ActiveDeadlineSeconds = ptr.To[int64](2)
	p.create(spec)
	job := p.waitState("demo", v1alpha1.StateFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, meta.FindStatusCondition(job.Status.Conditions, "Ready").Reason)
}

func TestAJobGoesAfterItsTime(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	p.manage()
	spec := p.onPool("0s")
	spec.TTLSecondsAfterFinished = ptr.To[int32](3600)
	p.create(spec)
	job := p.waitState("demo", v1alpha1.StateSucceed)
	p.edit(func(s *v1alpha1.DaemonJobSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](2) }) // not before: its end must be seen
	p.Eventually("it is gone", func() bool {
		return apierrors.IsNotFound(p.Client.Get(t.Context(), client.ObjectKeyFromObject(job), job))
	})
	assert.False(t, time.Now().Before(job.Status.CompletionTime.Add(2*time.Second)), "not before its time")
	p.Eventually("its Jobs and pods too", func() bool { return len(p.Jobs())+len(p.pods("demo")) == 0 })
}

func TestWhatHasEndedNeverRunsAgain(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	b := p.addNode("b")
	p.changeNode(b, cordon)
	stop := p.manage()
	p.create(p.onPool("0s"))
	p.waitReason(v1alpha1.ReasonNodesUnavailable)
	stop()
	require.NoError(t, p.Client.DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(p.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	p.Eventually("all Jobs are deleted", func() bool { return len(p.Jobs()) == 0 })
	p.manage()
	p.changeNode(b, uncordon)
	p.waitState("demo", v1alpha1.StateSucceed)
	assert.Equal(t, []string{"demo-" + b}, p.Jobs())
}

func TestOthersJobsAreLeftAlone(t *testing.T) {
	p := newPlaceAlone(t)
	p.addNode("a")
	p.manage()
	spec := p.onPool("0s")
	spec.ManagedBy = new("example.com/other")
	p.create(spec)
	p.AwaitPass(daemonjob.Name, func() {
		p.edit(func(s *v1alpha1.DaemonJobSpec) { s.Template.Spec.NodeSelector = nil })
	})
	assert.Empty(t, p.Jobs())
	assert.Empty(t, p.get("demo").Status)
}

// Each field that means a node's Job reaches it as the API server takes it.
func TestFieldsOfTheJobsAreHonoured(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	p.manage()
	spec := p.onPool("0s")
	spec.Completions = ptr.To[int32](2)
	spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	spec.BackoffLimitPerIndex = ptr.To[int32](1)
	spec.MaxFailedIndexes = ptr.To[int32](1)
	spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
	spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](2)}}}
	p.create(spec)
	p.waitState("demo", v1alpha1.StateSucceed)
	var list batchv1.JobList
	require.NoError(t, p.Client.List(t.Context(), &list, client.InNamespace(p.Namespace)))
	require.Len(t, list.Items, 1)
	got := list.Items[0]
	assert.EqualValues(t, 2, got.Status.Succeeded)
	assert.Equal(t, spec.SuccessPolicy, got.Spec.SuccessPolicy)
	assert.Equal(t, spec.PodFailurePolicy.Rules[0].Action, got.Spec.PodFailurePolicy.Rules[0].Action)
	assert.Equal(t, spec.BackoffLimitPerIndex, got.Spec.BackoffLimitPerIndex)
	assert.Equal(t, spec.MaxFailedIndexes, got.Spec.MaxFailedIndexes)
	assert.Equal(t, spec.PodReplacementPolicy, got.Spec.PodReplacementPolicy)
}
