package fluxjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestTheThirdJobOnAQuotaOfTwoWaitsAndThenRuns(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(2))
	p.watchPods(2)
	p.submit("a", forever)
	p.submit("b", forever)
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.waitState("b", v1alpha1.FluxJobRunning)

	p.submit("c", "exit 3")
	c := p.wait("c", "c is first in line", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })
	waits := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
	assert.Equal(t, v1alpha1.ReasonWaitingForQuota, waits.Reason)
	assert.Equal(t, fmt.Sprintf("it requests 1 MiniCluster; the free quota of queue %q is smaller", p.Namespace), waits.Message)
	assert.ElementsMatch(t, []string{"a", "b"}, p.miniClusters(), "nothing of c exists")
	queue := p.queue(p.Namespace)
	assert.Equal(t, int32(1), queue.Status.PendingWorkloads)
	assert.Equal(t, int32(2), queue.Status.AdmittedWorkloads)
	out, err := p.Kubectl("get", "fluxjobs")
	require.NoError(t, err)
	t.Log("\n" + out)
	out, err = p.Kubectl("get", "fluxsetups")
	require.NoError(t, err)
	t.Log("\n" + out)

	require.NoError(t, p.Client.Delete(t.Context(), p.job("a")))
	c = p.waitState("c", v1alpha1.FluxJobFailed)
	assert.Equal(t, ptr.To[int32](3), c.Status.ExitCode)
	assert.Equal(t, int32(1), c.Status.Attempts)
	failed := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionFailed)
	assert.Equal(t, v1alpha1.ReasonLeaderFailed, failed.Reason)
	for _, reason := range []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonLeaderFailed} {
		p.OneEvent("c", reason)
	}
	p.Eventually("c has given back what it held", func() bool { return p.queue(p.Namespace).Status.AdmittedWorkloads == 1 })
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("b").Status.State)
}

// A count of nobody is a 0, in the columns of kubectl too.
func TestAnEmptyQueueCountsNobody(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	p.Eventually("it is open", func() bool { return len(p.queue(p.Namespace).Status.Conditions) > 0 })
	out, err := p.Kubectl("get", "fluxsetup", p.Namespace, "-o", "jsonpath={.status.pendingWorkloads} wait, {.status.admittedWorkloads} run")
	require.NoError(t, err)
	assert.Equal(t, "0 wait, 0 run", out)
}

func TestAQueueMayComeLateAndGo(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	p.submit("a", forever)
	p.waitReason("a", v1alpha1.ReasonQueueNotFound)
	p.OneEvent("a", v1alpha1.ReasonQueueNotFound)

	p.setup(clusters(1))
	a := p.waitState("a", v1alpha1.FluxJobRunning)
	pods := p.pods("a")
	require.Len(t, pods, 1)

	require.NoError(t, p.Client.Delete(t.Context(), p.queue(p.Namespace)))
	p.submit("b", "true")
	p.waitReason("b", v1alpha1.ReasonQueueNotFound)
	stop() // and made again while no one looks
	p.setup(clusters(1))
	p.manage()
	p.wait("b", "b is first in line", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })
	queue := p.queue(p.Namespace)
	require.Len(t, queue.Status.Reservations, 1)
	assert.Equal(t, a.UID, queue.Status.Reservations[0].UID, "what runs was found")

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = ptr.To[int32](0) })
	p.waitReason("b", v1alpha1.ReasonExceedsMaximumQuota)
	assert.Equal(t, pods, p.pods("a"), "nothing that runs was stopped")
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("a").Status.State)

	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = ptr.To[int32](2) })
	p.waitState("b", v1alpha1.FluxJobSucceeded)
}

func TestTheEndAndAfter(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	p.submit("kept", "true")
	p.waitState("kept", v1alpha1.FluxJobSucceeded)
	assert.Equal(t, []string{"kept"}, p.miniClusters())
	out, err := p.Kubectl("wait", "--for=condition=JobFinished", "fluxjob/kept", "--timeout=5m")
	require.NoError(t, err, out)

	p.submit("cleaned", "true", func(j *v1alpha1.FluxJob) { j.Spec.CleanupPolicy = v1alpha1.CleanupMiniCluster })
	p.waitState("cleaned", v1alpha1.FluxJobSucceeded)
	p.Eventually("the MiniCluster is gone", func() bool { return len(p.miniClusters()) == 1 })

	p.submit("fleeting", "true", func(j *v1alpha1.FluxJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) })
	p.Eventually("the FluxJob is gone", func() bool {
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "fleeting"}, &v1alpha1.FluxJob{})
		return apierrors.IsNotFound(err)
	})
	p.Eventually("its MiniCluster is gone", func() bool { return len(p.miniClusters()) == 1 })

	p.submit("late", forever, func(j *v1alpha1.FluxJob) { j.Spec.DeadlineSeconds = ptr.To[int64](2) })
	late := p.waitState("late", v1alpha1.FluxJobFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, meta.FindStatusCondition(late.Status.Conditions, v1alpha1.ConditionJobFinished).Reason)
	assert.Nil(t, late.Status.ExitCode)
	p.Eventually("it has given back what it held", func() bool { return p.queue(p.Namespace).Status.AdmittedWorkloads == 0 })
}

func TestKueueCanBeTheQueue(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.submit("a", "true", func(j *v1alpha1.FluxJob) {
		j.Labels, j.Spec.Queue = map[string]string{v1alpha1.LabelKueueQueue: "team", v1alpha1.LabelKueuePriority: "high", "other": "label"}, ""
	})
	p.waitReason("a", v1alpha1.ReasonQueued)
	cluster, job := &v1alpha1.MiniCluster{}, &batchv1.Job{}
	p.Get("a", cluster)
	p.Eventually("its Job", func() bool {
		return p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "a"}, job) == nil
	})
	for _, labels := range []map[string]string{cluster.Labels, job.Labels} {
		assert.Equal(t, "team", labels[v1alpha1.LabelKueueQueue])
		assert.Equal(t, "high", labels[v1alpha1.LabelKueuePriority])
		assert.NotContains(t, labels, "other")
	}
	assert.True(t, *job.Spec.Suspend)

	admitted := job.DeepCopy() // as Kueue does
	admitted.Spec.Suspend = new(false)
	require.NoError(t, p.Client.Patch(t.Context(), admitted, client.MergeFrom(job)))
	p.waitState("a", v1alpha1.FluxJobSucceeded)
}

// A queue at rest, with jobs that run, that wait and that can never run, asks nothing of the API server.
func TestAQueueAtRestMakesNoRequest(t *testing.T) {
	p := newPlace(t)
	var counted harness.Requests
	p.manage(counted.Record)
	p.setup(clusters(1), func(s *v1alpha1.FluxSetupSpec) { s.Preemption = v1alpha1.PreemptionLowerPriority })
	p.submit("runs", forever)
	p.waitState("runs", v1alpha1.FluxJobRunning)
	p.submit("waits", "true")
	p.waitReason("waits", v1alpha1.ReasonWaitingForQuota)
	p.submit("lost", "true", func(j *v1alpha1.FluxJob) { j.Spec.Queue = p.Namespace + "-none" })
	p.waitReason("lost", v1alpha1.ReasonQueueNotFound)
	p.submit("huge", "true", func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](9) })
	p.updateQueue(p.Namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.Pods = ptr.To[int32](8) })
	p.waitReason("huge", v1alpha1.ReasonExceedsMaximumQuota)
	p.submit("sleeps", "true", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true })
	p.waitState("sleeps", v1alpha1.FluxJobSuspended)

	// What the manager still has to say of other tests' objects is not this one's.
	requests := func() []string {
		return slices.DeleteFunc(counted.Take(), func(request string) bool {
			return strings.Contains(request, "/namespaces/") && !strings.Contains(request, "/namespaces/"+p.Namespace+"/")
		})
	}
	// What the manager still has to write, a second late or because it is slow, comes in an earlier round. A request that a pass makes each
	// time comes in all of them.
	const late = 2 * time.Second
	var made []string
	p.Eventually("a round of passes without a request", func() bool {
		counted.Take()
		for _, name := range []string{"runs", "waits", "lost", "huge", "sleeps"} {
			p.Touch(fluxjob.Name, p.job(name))
		}
		p.Touch(admission.Name, p.queue(p.Namespace))
		time.Sleep(late)
		made = requests()
		return len(made) == 0
	}, func() any { return made })
}

// A pod whose MiniCluster or Job is deleted in the background, as kubectl does it, takes time to stop. The next job waits for it.
func TestPodsThatAreLeftHoldTheirShare(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	p.watchPods(1)
	const stopsSlowly = "trap 'sleep 3; exit 0' TERM; sleep 3600 & wait"
	p.submit("a", stopsSlowly)
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.submit("b", stopsSlowly)
	p.waitReason("b", v1alpha1.ReasonWaitingForQuota)

	background := client.PropagationPolicy(metav1.DeletePropagationBackground)
	inPlace := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: p.Namespace, Name: name} }
	require.NoError(t, p.Client.Delete(t.Context(), &v1alpha1.MiniCluster{ObjectMeta: inPlace("a")}, background))
	p.waitState("b", v1alpha1.FluxJobRunning)
	p.waitState("a", v1alpha1.FluxJobFailed)

	p.submit("c", "true")
	require.NoError(t, p.Client.Delete(t.Context(), &batchv1.Job{ObjectMeta: inPlace("b")}, background))
	p.waitState("c", v1alpha1.FluxJobSucceeded)
	p.waitState("b", v1alpha1.FluxJobFailed)
}
