package fluxjob

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
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
	assert.Equal(t, v1alpha1.ReasonQuotaExceeded, waits.Reason)
	assert.Equal(t, fmt.Sprintf("it needs 1 miniClusters, and queue %q has less to give now", p.namespace), waits.Message)
	assert.ElementsMatch(t, []string{"a", "b"}, p.miniClusters(), "nothing of c exists")
	queue := p.queue(p.namespace)
	assert.Equal(t, int32(1), queue.Status.Pending)
	assert.Equal(t, int32(2), queue.Status.Admitted)
	out, err := p.kubectl("get", "fluxjobs")
	require.NoError(t, err)
	t.Log("\n" + out)
	out, err = p.kubectl("get", "fluxsetups")
	require.NoError(t, err)
	t.Log("\n" + out)

	require.NoError(t, p.client.Delete(t.Context(), p.job("a")))
	c = p.waitState("c", v1alpha1.FluxJobFailed)
	assert.Equal(t, ptr.To[int32](3), c.Status.ExitCode)
	assert.Equal(t, int32(1), c.Status.Runs)
	failed := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionFailed)
	assert.Equal(t, v1alpha1.ReasonLeaderFailed, failed.Reason)
	for _, reason := range []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonLeaderFailed} {
		p.oneEvent("c", reason)
	}
	eventually(t, "c has given back what it held", func() bool { return p.queue(p.namespace).Status.Admitted == 1 })
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("b").Status.State)
}

// A count of nobody is a 0, in the columns of kubectl too.
func TestAnEmptyQueueCountsNobody(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	eventually(t, "it is open", func() bool { return len(p.queue(p.namespace).Status.Conditions) > 0 })
	out, err := p.kubectl("get", "fluxsetup", p.namespace, "-o", "jsonpath={.status.pending} wait, {.status.admitted} run")
	require.NoError(t, err)
	assert.Equal(t, "0 wait, 0 run", out)
}

func TestAQueueMayComeLateAndGo(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	p.submit("a", forever)
	p.waitReason("a", v1alpha1.ReasonQueueNotFound)
	p.oneEvent("a", v1alpha1.ReasonQueueNotFound)

	p.setup(clusters(1))
	a := p.waitState("a", v1alpha1.FluxJobRunning)
	pods := p.pods("a")
	require.Len(t, pods, 1)

	require.NoError(t, p.client.Delete(t.Context(), p.queue(p.namespace)))
	p.submit("b", "true")
	p.waitReason("b", v1alpha1.ReasonQueueNotFound)
	stop() // and made again while no one looks
	p.setup(clusters(1))
	p.manage()
	p.wait("b", "b is first in line", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })
	queue := p.queue(p.namespace)
	require.Len(t, queue.Status.Reservations, 1)
	assert.Equal(t, a.UID, queue.Status.Reservations[0].UID, "what runs was found")

	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = ptr.To[int32](0) })
	p.waitReason("b", v1alpha1.ReasonTooLarge)
	assert.Equal(t, pods, p.pods("a"), "nothing that runs was stopped")
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("a").Status.State)

	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = ptr.To[int32](2) })
	p.waitState("b", v1alpha1.FluxJobSucceeded)
}

func TestAPreemptedJobStopsLinesUpAndRunsAgain(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1), func(s *v1alpha1.FluxSetupSpec) { s.Preemption = v1alpha1.PreemptionLowerPriority })
	p.watchPods(1)
	p.submit("low", forever)
	p.waitState("low", v1alpha1.FluxJobRunning)
	p.submit("next", "true") // creation times are whole seconds, so it may be by its name that it comes after low
	p.submit("urgent", "true", priority(10))
	p.waitState("urgent", v1alpha1.FluxJobSucceeded)

	low := p.wait("low", "low runs again", func(j *v1alpha1.FluxJob) bool {
		return j.Status.Runs == 2 && j.Status.State == v1alpha1.FluxJobRunning
	})
	assert.Equal(t, v1alpha1.ReasonPreempted, low.Status.LastEviction.Reason)
	p.oneEvent("low", v1alpha1.ReasonPreempted)
	p.oneEvent("low", v1alpha1.ReasonRequeued)

	assert.Equal(t, v1alpha1.FluxJobWaiting, p.job("next").Status.State, "it came after low")
	assert.Empty(t, p.events("next", v1alpha1.ReasonAdmitted))

	require.NoError(t, p.client.Delete(t.Context(), low))
	p.waitState("next", v1alpha1.FluxJobSucceeded)
}

func TestACohortTakesBackWhatItLent(t *testing.T) {
	p := newPlace(t)
	p.manage()
	mine, yours := p.namespace+"-mine", p.namespace+"-yours"
	cohort := func(s *v1alpha1.FluxSetupSpec) {
		s.Cohort, s.Preemption = p.namespace, v1alpha1.PreemptionLowerPriority
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
	p.waitReason("patient", v1alpha1.ReasonQuotaExceeded)
	p.submit("urgent", "true", in(mine), priority(1))
	p.waitState("urgent", v1alpha1.FluxJobSucceeded)
	p.wait("borrower", "borrower had to go", func(j *v1alpha1.FluxJob) bool {
		return j.Status.LastEviction != nil && j.Status.LastEviction.Reason == v1alpha1.ReasonPreempted
	})
	p.waitState("patient", v1alpha1.FluxJobSucceeded)
	p.waitState("borrower", v1alpha1.FluxJobRunning)
	assert.Equal(t, int32(1), p.job("own").Status.Runs)
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

	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.Readiness = nil })
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
	eventually(t, "the queue has it back", func() bool { return p.queue(p.namespace).Status.Admitted == 0 })

	p.update("a", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = false })
	p.wait("a", "a runs again", func(j *v1alpha1.FluxJob) bool { return j.Status.Runs == 2 && j.Status.State == v1alpha1.FluxJobRunning })

	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHold })
	p.submit("b", "true")
	p.waitReason("b", v1alpha1.ReasonQueueStopped)
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("a").Status.State)
	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHoldAndDrain })
	p.waitReason("a", v1alpha1.ReasonQueueStopped)
	assert.Empty(t, p.pods("a"))

	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) {
		s.StopPolicy, s.Quota.MiniClusters = v1alpha1.StopNone, ptr.To[int32](2)
	})
	p.waitState("b", v1alpha1.FluxJobSucceeded)
	p.wait("a", "a runs a third time", func(j *v1alpha1.FluxJob) bool { return j.Status.Runs == 3 && j.Status.State == v1alpha1.FluxJobRunning })
}

func TestResourcesCountAndWhatCanNeverRunIsTold(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(func(s *v1alpha1.FluxSetupSpec) {
		s.Quota = v1alpha1.FluxQuota{Pods: ptr.To[int32](3), Resources: corev1.ResourceList{"cpu": resource.MustParse("300m")}}
		s.MiniCluster.MaxSize = ptr.To[int32](3)
		s.QueueingStrategy = v1alpha1.StrictFIFO
	})
	cpu := func(q string, size int32) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) {
			j.Spec.Size = &size
			j.Spec.MiniCluster.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(q)}
		}
	}
	p.submit("huge", "true", cpu("200m", 2))
	assert.Contains(t, p.waitReason("huge", v1alpha1.ReasonTooLarge).Status.Conditions[1].Message, "it needs 400m cpu")
	p.submit("wide", "true", cpu("1m", 4))
	p.waitReason("wide", v1alpha1.ReasonTooLarge)
	p.submit("a", forever, cpu("100m", 2))
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.submit("b", "true", cpu("101m", 1))
	assert.Equal(t, ptr.To[int32](1), p.waitReason("b", v1alpha1.ReasonQuotaExceeded).Status.Position)
	p.submit("c", "true", cpu("1m", 1))
	p.waitReason("c", v1alpha1.ReasonBehindOthers)
	for _, usage := range p.queue(p.namespace).Status.Usage {
		switch usage.Name {
		case "pods":
			assert.Equal(t, "2 of 3, 1 free", fmt.Sprintf("%s of %s, %s free", usage.Used.String(), usage.Quota.String(), usage.Free.String()))
		case "cpu":
			assert.Equal(t, "200m of 300m, 100m free", fmt.Sprintf("%s of %s, %s free", usage.Used.String(), usage.Quota.String(), usage.Free.String()))
		}
	}
	require.NoError(t, p.client.Delete(t.Context(), p.job("a")))
	p.waitState("b", v1alpha1.FluxJobSucceeded)
	p.waitState("c", v1alpha1.FluxJobSucceeded)
}

func TestNamespacesThatAreNotSelected(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(func(s *v1alpha1.FluxSetupSpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"queue": p.namespace}}
	})
	p.submit("a", "true")
	p.waitReason("a", v1alpha1.ReasonNamespaceNotAllowed)
	p.oneEvent("a", v1alpha1.ReasonNamespaceNotAllowed)
	ns := &corev1.Namespace{}
	require.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Name: p.namespace}, ns))
	labelled := ns.DeepCopy()
	metav1.SetMetaDataLabel(&labelled.ObjectMeta, "queue", p.namespace)
	require.NoError(t, p.client.Patch(t.Context(), labelled, client.MergeFrom(ns)))
	p.waitState("a", v1alpha1.FluxJobSucceeded)
}

func TestTheEndAndAfter(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(clusters(1))
	p.submit("kept", "true")
	p.waitState("kept", v1alpha1.FluxJobSucceeded)
	assert.Equal(t, []string{"kept"}, p.miniClusters())
	out, err := p.kubectl("wait", "--for=condition=JobFinished", "fluxjob/kept", "--timeout=10s")
	require.NoError(t, err, out)

	p.submit("cleaned", "true", func(j *v1alpha1.FluxJob) { j.Spec.CleanupPolicy = v1alpha1.CleanupMiniCluster })
	p.waitState("cleaned", v1alpha1.FluxJobSucceeded)
	eventually(t, "the MiniCluster is gone", func() bool { return len(p.miniClusters()) == 1 })

	p.submit("fleeting", "true", func(j *v1alpha1.FluxJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) })
	eventually(t, "the FluxJob is gone", func() bool {
		err := p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "fleeting"}, &v1alpha1.FluxJob{})
		return apierrors.IsNotFound(err)
	})
	eventually(t, "its MiniCluster is gone", func() bool { return len(p.miniClusters()) == 1 })

	p.submit("late", forever, func(j *v1alpha1.FluxJob) { j.Spec.DeadlineSeconds = ptr.To[int64](2) })
	late := p.waitState("late", v1alpha1.FluxJobFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, meta.FindStatusCondition(late.Status.Conditions, v1alpha1.ConditionJobFinished).Reason)
	assert.Nil(t, late.Status.ExitCode)
	eventually(t, "it has given back what it held", func() bool { return p.queue(p.namespace).Status.Admitted == 0 })
}

func TestKueueCanBeTheQueue(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.submit("a", "true", func(j *v1alpha1.FluxJob) {
		j.Labels, j.Spec.Queue = map[string]string{v1alpha1.LabelKueueQueue: "team"}, ""
	})
	p.waitReason("a", v1alpha1.ReasonQueued)
	job := &batchv1.Job{}
	require.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "a"}, job))
	assert.Equal(t, "team", job.Labels[v1alpha1.LabelKueueQueue])
	assert.True(t, *job.Spec.Suspend)

	admitted := job.DeepCopy() // as Kueue does
	admitted.Spec.Suspend = ptr.To(false)
	require.NoError(t, p.client.Patch(t.Context(), admitted, client.MergeFrom(job)))
	p.waitState("a", v1alpha1.FluxJobSucceeded)
}

func TestBadInputIsRefusedByTheAPIServer(t *testing.T) {
	p := newPlace(t)
	cluster := &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{{Image: "i"}}}
	with := func(change func(*v1alpha1.MiniClusterSpec)) v1alpha1.FluxJobSpec {
		c := cluster.DeepCopy()
		change(c)
		return v1alpha1.FluxJobSpec{MiniCluster: c, Size: ptr.To[int32](2), DeadlineSeconds: ptr.To[int64](1), BackoffLimit: ptr.To[int32](1)}
	}
	jobs := map[string]struct {
		spec v1alpha1.FluxJobSpec
		want string
	}{
		"neither":  {v1alpha1.FluxJobSpec{}, "exactly one of image and miniCluster must be set"},
		"both":     {v1alpha1.FluxJobSpec{Image: "i", MiniCluster: cluster}, "exactly one of image and miniCluster must be set"},
		"command":  {v1alpha1.FluxJobSpec{Command: "c", MiniCluster: cluster}, "command, tasks and resources go with image"},
		"size":     {v1alpha1.FluxJobSpec{Image: "i", Size: ptr.To[int32](0)}, "should be greater than or equal to 1"},
		"sizes":    {with(func(c *v1alpha1.MiniClusterSpec) { c.Size = 3 }), "size and miniCluster.size differ"},
		"max-size": {with(func(c *v1alpha1.MiniClusterSpec) { c.MaxSize = 1 }), "size is over miniCluster.maxSize"},
		"suspend":  {with(func(c *v1alpha1.MiniClusterSpec) { c.Suspend = true }), "set spec.suspend"},
		"ttl":      {with(func(c *v1alpha1.MiniClusterSpec) { c.TTLSecondsAfterFinished = ptr.To[int32](1) }), "set spec.ttlSecondsAfterFinished"},
		"managed":  {with(func(c *v1alpha1.MiniClusterSpec) { c.ManagedBy = ptr.To("x") }), "miniCluster.managedBy can't be set"},
		"deadline": {with(func(c *v1alpha1.MiniClusterSpec) { c.DeadlineSeconds = ptr.To[int64](1) }), "deadlineSeconds and miniCluster.deadlineSeconds exclude each other"},
		"backoff":  {with(func(c *v1alpha1.MiniClusterSpec) { c.BackoffLimit = ptr.To[int32](1) }), "backoffLimit and miniCluster.backoffLimit exclude each other"},
		"munge":    {with(func(c *v1alpha1.MiniClusterSpec) { c.Flux.MungeSecret = "x" }), "flux.mungeSecret is not supported"},
		"Upper":    {v1alpha1.FluxJobSpec{Image: "i"}, "metadata.name"},
		"1st":      {v1alpha1.FluxJobSpec{Image: "i"}, "metadata.name must be at most 52 lower case letters"},
	}
	for name, tt := range jobs {
		job := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}, Spec: tt.spec}
		assert.ErrorContains(t, p.client.Create(t.Context(), job), tt.want, name)
	}
	setups := map[string]struct {
		spec v1alpha1.FluxSetupSpec
		want string
	}{
		"sizes":    {v1alpha1.FluxSetupSpec{MiniCluster: v1alpha1.FluxSetupMiniCluster{Size: ptr.To[int32](3), MaxSize: ptr.To[int32](2)}}, "spec.miniCluster.size: Invalid value: must be at most maxSize"},
		"alone":    {v1alpha1.FluxSetupSpec{LendingLimit: &v1alpha1.FluxQuota{}}, "mean nothing without a cohort"},
		"strategy": {v1alpha1.FluxSetupSpec{QueueingStrategy: "LIFO"}, "supported values"},
		"quota":    {v1alpha1.FluxSetupSpec{Quota: v1alpha1.FluxQuota{Pods: ptr.To[int32](-1)}}, "should be greater than or equal to 0"},
		"backoff":  {v1alpha1.FluxSetupSpec{Readiness: &v1alpha1.FluxReadiness{TimeoutSeconds: 1, BackoffSeconds: 9, BackoffMaxSeconds: 8}}, "backoffSeconds is over backoffMaxSeconds"},
	}
	for name, tt := range setups {
		setup := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: p.namespace + "-" + name}, Spec: tt.spec}
		assert.ErrorContains(t, p.client.Create(t.Context(), setup), tt.want, name)
	}
}

// A queue at rest, with jobs that run, that wait and that can never run, asks nothing of the API server.
func TestAQueueAtRestMakesNoRequest(t *testing.T) {
	p := newPlace(t)
	var counted counter
	p.manage(counted.wrap)
	p.setup(clusters(1), func(s *v1alpha1.FluxSetupSpec) { s.Preemption = v1alpha1.PreemptionLowerPriority })
	p.submit("runs", forever)
	p.waitState("runs", v1alpha1.FluxJobRunning)
	p.submit("waits", "true")
	p.waitReason("waits", v1alpha1.ReasonQuotaExceeded)
	p.submit("lost", "true", func(j *v1alpha1.FluxJob) { j.Spec.Queue = p.namespace + "-none" })
	p.waitReason("lost", v1alpha1.ReasonQueueNotFound)
	p.submit("huge", "true", func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](9) })
	p.updateQueue(p.namespace, func(s *v1alpha1.FluxSetupSpec) { s.Quota.Pods = ptr.To[int32](8) })
	p.waitReason("huge", v1alpha1.ReasonTooLarge)
	p.submit("sleeps", "true", func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true })
	p.waitState("sleeps", v1alpha1.FluxJobSuspended)

	// Counts and lines are written up to a second late; what follows must be silence.
	const silence = 4 * time.Second
	began, last := time.Now(), time.Now()
	var all []string
	eventually(t, "the queue comes to rest", func() bool {
		if more := counted.take(); len(more) > 0 {
			all, last = append(all, more...), time.Now()
		}
		return time.Since(last) > silence
	}, func() any { return all })
	t.Logf("%d requests until it was at rest, %s after the last change", len(all), last.Sub(began).Round(time.Millisecond))

	// A pass over each of them that has nothing new to say asks for nothing, either.
	for _, name := range []string{"runs", "waits", "lost", "huge", "sleeps"} {
		p.update(name, func(j *v1alpha1.FluxJob) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, "touched", "yes") })
	}
	began = time.Now()
	eventually(t, "silence again", func() bool {
		require.Empty(t, counted.take(), "for an annotation that means nothing")
		return time.Since(began) > silence
	})
}
