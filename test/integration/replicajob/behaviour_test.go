package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/replicajob"
)

const (
	running   = corev1.PodRunning
	succeeded = corev1.PodSucceeded
)

// isGone reports whether there is no object of this name and kind.
func (p *place) isGone(name string, obj client.Object) bool {
	p.T.Helper()
	return apierrors.IsNotFound(p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, obj))
}

func TestAJobRunsToItsEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var counted requests
	p.manage(counted.Record)
	began := time.Now()
	meet := `until grep -q "$COORDINATOR\$" $HOSTS_FILE; do sleep 0.1; done; echo $JOB_NAME $REPLICA_TYPE $REPLICA_INDEX of $REPLICAS, rank $RANK of $WORLD_SIZE, after $COORDINATOR`
	p.create("whole", `{replicaSpecs: {
		Chief: {template: `+sh(meet)+`, dependsOn: [{type: Worker, status: Ready}]},
		Worker: {replicas: 3, template: `+sh(meet+"; "+forever)+`}}}`)
	job := p.waitState("whole", v1alpha1.ReplicaJobSucceeded)
	assert.Equal(t, "whole Chief 0 of 1, rank 0 of 4, after whole-chief-0.whole", p.Logs("whole-chief-0"))
	for _, kind := range []string{"Created", "Succeeded", "Ready"} {
		assert.True(t, meta.IsStatusConditionTrue(job.Status.Conditions, kind), kind)
	}
	assert.NotNil(t, job.Status.StartTime)
	assert.NotNil(t, job.Status.CompletionTime)
	assert.EqualValues(t, 1, job.Status.ReplicaStatuses["Chief"].Succeeded)
	p.MustKubectl("wait", "--for=condition=Succeeded", "replicajob/whole")
	assert.Contains(t, p.MustKubectl("get", "rj"), "Succeeded")

	p.waitPods("whole", succeeded, "whole-chief-0")
	p.wait("whole", "no pod runs", func(j *v1alpha1.ReplicaJob) bool { return j.Status.ReplicaStatuses["Worker"].Active == 0 })
	p.Eventually("its Service goes", func() bool { return p.isGone("whole", &corev1.Service{}) })
	assert.Len(t, counted.seen("POST"), 5, "four pods and a Service")
	most := 7 + int(time.Since(began)/(5*time.Second)) // as often, what can wait is written
	assert.LessOrEqual(t, len(counted.seen("replicajobs/whole/status")), most, "three pods run, one waits for them, and all that ends")
	assert.Len(t, counted.seen("DELETE"), 4, "three pods and a Service")
	assert.Empty(t, counted.seen("GET /api/v1/namespaces/"+p.Namespace+"/pods/"), "nothing is read for it")
	p.Eventually("its events", func() bool { return len(p.events("whole")) > 3 })
	for _, reason := range []string{"Started", "Running", "Succeeded"} {
		assert.Contains(t, p.events("whole"), reason)
	}

	counted.Take()
	p.change("whole", func(j *v1alpha1.ReplicaJob) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, "touched", "yes") })
	p.change("whole", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.BackoffLimit = ptr.To[int32](3) })
	p.wait("whole", "the change is seen", func(j *v1alpha1.ReplicaJob) bool { return j.Status.ObservedGeneration == j.Generation })
	assert.Len(t, counted.seen(""), 1, "one write for the change that has no effect, and none for the other")
}

func TestReplicasRestartAndTheirCountOutlivesTheManager(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stop := p.manage()
	p.create("again", `{runPolicy: {backoffLimit: 2}, replicaSpecs: {
		Worker: {replicas: 2, restartPolicy: ExitCode, template: `+sh("[ $RESTARTS = 2 ] && exit 0; [ $REPLICA_INDEX = 1 ] && "+forever+"; exit 130")+`}}}`)
	p.wait("again", "the first restart", func(j *v1alpha1.ReplicaJob) bool { return j.Status.ReplicaStatuses["Worker"].Restarts > 0 })
	stop()
	p.manage()
	job := p.waitState("again", v1alpha1.ReplicaJobSucceeded)
	assert.EqualValues(t, 2, job.Status.ReplicaStatuses["Worker"].Restarts)
	assert.Equal(t, map[string]int32{"0": 2}, job.Status.ReplicaStatuses["Worker"].ReplicaRestarts)
	assert.Equal(t, "2", p.pod("again-worker-0").Labels[replicajob.LabelRestarts])

	for name, spec := range map[string]string{
		"permanent": `{replicaSpecs: {Worker: {restartPolicy: ExitCode, template: ` + sh("exit 3") + `}}}`,
		"limited":   `{runPolicy: {backoffLimit: 0}, replicaSpecs: {Worker: {restartPolicy: ExitCode, template: ` + sh("exit 130") + `}}}`,
		"in-place":  `{runPolicy: {backoffLimit: 1}, replicaSpecs: {Worker: {restartPolicy: OnFailure, template: ` + sh("exit 1") + `}}}`,
	} {
		p.create(name, spec)
	}
	for name, want := range map[string]string{"permanent": "ReplicaFailed", "limited": "BackoffLimitExceeded", "in-place": "BackoffLimitExceeded"} {
		job := p.waitState(name, v1alpha1.ReplicaJobFailed)
		assert.Equal(t, want, reason(job, "Failed"), name)
		assert.True(t, meta.IsStatusConditionTrue(job.Status.Conditions, "Stalled"))
		assert.NotNil(t, job.Status.CompletionTime)
	}
}

func TestTheWholeJobRestarts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	for name, strategy := range map[string]string{"each": "Recreate", "all": "BlockingRecreate"} {
		p.create(name, `{failurePolicy: {maxRestarts: 1, restartStrategy: `+strategy+`, rules: [{action: RestartJob, onExitCodes: {values: [7]}}]},
			replicaSpecs: {Worker: {replicas: 3, template: `+sh("[ $ATTEMPT = 1 ] && exit 0; [ $REPLICA_INDEX = 1 ] && exit 7; "+forever)+`}}, successPolicy: {rule: AllWorkers}}`)
		job := p.waitState(name, v1alpha1.ReplicaJobSucceeded)
		assert.EqualValues(t, 1, job.Status.Restarts)
		for _, pod := range p.podList(name) {
			assert.Equal(t, "1", pod.Labels[replicajob.LabelRestartAttempt])
		}
	}
}

func TestKubectlScale(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	p.create("elastic", `{replicaSpecs: {Worker: {replicas: 2, template: `+sh(forever)+`}}}`)
	p.waitPods("elastic", running, "elastic-worker-0", "elastic-worker-1")
	uids := map[string]types.UID{}
	for _, pod := range p.podList("elastic") {
		uids[pod.Name] = pod.UID
	}
	p.MustKubectl("scale", "replicajob/elastic", "--replicas=4")
	p.waitPods("elastic", running, "elastic-worker-0", "elastic-worker-1", "elastic-worker-2", "elastic-worker-3")
	p.MustKubectl("wait", "--for=jsonpath={.status.replicaStatuses.Worker.active}=4", "replicajob/elastic", "--timeout=5m")
	scale := p.MustKubectl("get", "--raw", "/apis/api.practice.com/v1alpha1/namespaces/"+p.Namespace+"/replicajobs/elastic/scale")
	assert.Contains(t, scale, `"spec":{"replicas":4},"status":{"replicas":4,"selector":"api.practice.com/job-name=elastic,api.practice.com/operator-name=replicajob,api.practice.com/replica-type=worker"}`)

	require.NoError(t, p.Client.Delete(t.Context(), p.pod("elastic-worker-1")))
	p.Eventually("the hole is filled", func() bool {
		return len(p.pods("elastic")) == 4 && p.pod("elastic-worker-1").UID != uids["elastic-worker-1"]
	})
	p.MustKubectl("scale", "replicajob/elastic", "--replicas=1")
	p.waitPods("elastic", running, "elastic-worker-0")
	assert.Equal(t, uids["elastic-worker-0"], p.pod("elastic-worker-0").UID)
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	p.create("paused", `{runPolicy: {suspend: true, schedulingPolicy: {provider: PodDisruptionBudget}}, network: {servicePerReplica: true},
		replicaSpecs: {Worker: {replicas: 2, template: `+sh(forever)+`}}}`)
	job := p.waitState("paused", v1alpha1.ReplicaJobSuspended)
	assert.Nil(t, job.Status.StartTime)
	assert.Empty(t, p.podList("paused"))
	p.change("paused", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	p.waitPods("paused", running, "paused-worker-0", "paused-worker-1")
	assert.Equal(t, "service/paused\nservice/paused-worker-0\nservice/paused-worker-1\npoddisruptionbudget.policy/paused", p.MustKubectl("get", "svc,pdb", "-o", "name"))
	first := p.wait("paused", "its start is recorded", func(j *v1alpha1.ReplicaJob) bool { return j.Status.StartTime != nil }).Status.StartTime

	p.change("paused", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	p.waitState("paused", v1alpha1.ReplicaJobSuspended)
	p.Eventually("all that it had goes", func() bool {
		return len(p.podList("paused")) == 0 && p.MustKubectl("get", "svc,pdb", "-o", "name") == ""
	})
	p.Eventually("a later second, for times in the API are whole seconds", func() bool { return time.Since(first.Time) > time.Second })
	p.change("paused", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	p.waitPods("paused", running, "paused-worker-0", "paused-worker-1")
	p.wait("paused", "a start of the resume", func(j *v1alpha1.ReplicaJob) bool { return first.Before(j.Status.StartTime) })
}

func TestTimePassesWithoutAManager(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stop := p.manage()
	p.create("late", `{runPolicy: {activeDeadlineSeconds: 3600}, replicaSpecs: {Worker: {template: `+sh(forever)+`}}}`)
	p.create("instant", `{runPolicy: {ttlSecondsAfterFinished: 0}, replicaSpecs: {Worker: {template: `+sh("true")+`}}}`)
	p.waitPods("late", running, "late-worker-0")
	p.Eventually("an instant TTL", func() bool { return p.isGone("instant", &v1alpha1.ReplicaJob{}) })
	p.create("brief", `{runPolicy: {ttlSecondsAfterFinished: 3600}, replicaSpecs: {Worker: {template: `+sh("true")+`}}}`)
	p.wait("brief", "its end is recorded", func(j *v1alpha1.ReplicaJob) bool { return j.Status.CompletionTime != nil })
	stop()
	// Not before: it may take longer to get so far.
	p.change("late", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.ActiveDeadlineSeconds = ptr.To[int64](1) })
	p.change("brief", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.TTLSecondsAfterFinished = ptr.To[int32](1) })
	started, ended := p.get("late").Status.StartTime, p.get("brief").Status.CompletionTime
	p.Eventually("the times pass", func() bool {
		return time.Since(started.Time) > 2*time.Second && time.Since(ended.Time) > 2*time.Second
	})
	p.manage()
	job := p.waitState("late", v1alpha1.ReplicaJobFailed)
	assert.Equal(t, "DeadlineExceeded", reason(job, "Failed"))
	assert.EqualValues(t, 2, job.Status.CompletionTime.Sub(started.Time).Seconds(), "never early, and times in the API are whole seconds")
	p.Eventually("the TTL", func() bool { return p.isGone("brief", &v1alpha1.ReplicaJob{}) })
	p.Eventually("what ran is ended", func() bool { return len(p.podList("late")) == 0 })
}

func TestAnotherManagersJobIsNotTouched(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var counted requests
	p.manage(counted.Record)
	p.create("theirs", `{runPolicy: {managedBy: kueue.x-k8s.io/multikueue}, replicaSpecs: {Worker: {template: `+sh("true")+`}}}`)
	version := p.get("theirs").ResourceVersion
	p.create("ours", `{runPolicy: {managedBy: api.practice.com/armature}, replicaSpecs: {Worker: {template: `+sh("true")+`}}}`)
	p.waitState("ours", v1alpha1.ReplicaJobSucceeded)
	assert.Equal(t, version, p.get("theirs").ResourceVersion)
	assert.Empty(t, counted.seen("theirs"))
}

func TestForeignPodsAndOrphans(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	stranger := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "taken-worker-0", Labels: map[string]string{
			replicajob.LabelOperator: "replicajob", replicajob.LabelJob: "taken", replicajob.LabelType: "worker", replicajob.LabelIndex: "0",
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none", Command: []string{"sleep", "600"}}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), stranger))
	gang := `{runPolicy: {schedulingPolicy: {provider: PodDisruptionBudget}}, replicaSpecs: {Worker: {replicas: 2, template: ` + sh(forever) + `}}}`
	p.create("taken", gang)
	job := p.wait("taken", "it is told", func(j *v1alpha1.ReplicaJob) bool { return reason(j, "Ready") == "NotOwned" })
	assert.Contains(t, meta.FindStatusCondition(job.Status.Conditions, "Ready").Message, "taken-worker-0")
	p.waitPods("taken", running, "taken-worker-0", "taken-worker-1") // labels select the stranger, too
	assert.Empty(t, p.pod("taken-worker-0").OwnerReferences)
	require.NoError(t, p.Client.Delete(t.Context(), stranger, client.GracePeriodSeconds(0)))
	p.waitPods("taken", running, "taken-worker-0", "taken-worker-1")

	uid := p.pod("taken-worker-1").UID
	require.NoError(t, p.Client.Delete(t.Context(), p.get("taken"), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	p.Eventually("the job is gone and its pods are orphans", func() bool {
		return p.isGone("taken", &v1alpha1.ReplicaJob{}) && len(p.pod("taken-worker-1").OwnerReferences) == 0
	})
	p.create("taken", gang)
	job = p.wait("taken", "they are adopted", func(j *v1alpha1.ReplicaJob) bool {
		return j.Status.ReplicaStatuses["Worker"].Active == 2 && reason(j, "Ready") == "Running"
	})
	for _, shared := range []client.Object{&corev1.Service{}, &policyv1.PodDisruptionBudget{}} {
		p.Get("taken", shared)
		require.NotNil(t, metav1.GetControllerOf(shared))
		assert.Equal(t, job.UID, metav1.GetControllerOf(shared).UID)
	}
	pod := p.pod("taken-worker-1")
	assert.Equal(t, uid, pod.UID)
	ref := metav1.GetControllerOf(pod)
	assert.Equal(t, p.get("taken").UID, ref.UID)
	assert.True(t, *ref.BlockOwnerDeletion)

	p.Edit(pod, func() { pod.Labels[replicajob.LabelJob] = "another" })
	p.Eventually("a pod labelled otherwise is let go", func() bool { return len(p.pod("taken-worker-1").OwnerReferences) == 0 })
}

// A pod of an earlier job of that name that doesn't go is waited for, and named.
func TestAPodOfAnEarlierJobIsWaitedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	spec := `{replicaSpecs: {Worker: {replicas: 2, template: ` + sh(forever) + `}}}`
	p.create("again", spec)
	p.waitPods("again", running, "again-worker-0", "again-worker-1")
	held := p.pod("again-worker-0")
	p.Edit(held, func() { held.Finalizers = append(held.Finalizers, "example.com/held") })
	require.NoError(t, p.Client.Delete(t.Context(), p.get("again"), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	p.Eventually("the job is gone", func() bool { return p.isGone("again", &v1alpha1.ReplicaJob{}) })
	p.create("again", spec)
	job := p.wait("again", "it is told", func(j *v1alpha1.ReplicaJob) bool {
		return reason(j, "Ready") == "Waiting" && j.Status.ReplicaStatuses["Worker"].Active == 1
	})
	assert.Equal(t, "waiting for the deletion of Pod "+p.Namespace+"/again-worker-0", meta.FindStatusCondition(job.Status.Conditions, "Ready").Message)
	p.Edit(held, func() { held.Finalizers = nil })
	p.wait("again", "it goes on", func(j *v1alpha1.ReplicaJob) bool {
		return reason(j, "Ready") == "Running" && j.Status.ReplicaStatuses["Worker"].Active == 2
	})
}

func TestTwinsAndNonsenseDontHoldUpAJob(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	p.create("odd", `{successPolicy: {rule: AllWorkers}, replicaSpecs: {Worker: {replicas: 2, template: `+sh("sleep 2")+`}}}`)
	job := p.get("odd")
	for name, index := range map[string]string{"odd-twin": "0", "odd-worker-7": "7", "odd-worker--1": "0x", "odd-nonsense": "9999999999999999999999"} {
		require.NoError(t, p.Client.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: p.Namespace, Name: name,
				Labels: map[string]string{
					replicajob.LabelOperator: "replicajob", replicajob.LabelJob: "odd", replicajob.LabelType: "worker", replicajob.LabelIndex: index,
				},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, v1alpha1.GroupVersion.WithKind("ReplicaJob"))},
			},
			Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "none", Command: []string{"true"}}}},
		}))
	}
	p.waitState("odd", v1alpha1.ReplicaJobSucceeded)
}
