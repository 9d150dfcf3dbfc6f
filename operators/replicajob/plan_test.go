package replicajob

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// A pod of an earlier job of that name, which is still there, is named in the condition.
func TestAnEarlierJobsPodIsWaitedFor(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2)))
	c.settle()
	after := c.job.DeepCopy()
	c.plan.Finish(after, builder.Result{})
	assert.Equal(t, c.job, after)
	c.plan.Finish(after, builder.Result{Pending: []builder.ChildStatus{
		{Key: store.Key{Kind: "Pod", Namespace: "default", Name: "demo-worker-0"}, Reason: events.ReasonWaiting},
	}})
	ready := condition(after, "Ready")
	assert.Equal(t, "Waiting", ready.Reason)
	assert.Equal(t, "waiting for the deletion of Pod default/demo-worker-0", ready.Message)
}

func TestCountsCanWait(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 3), success(v1alpha1.SuccessAllWorkers)))
	c.settle()
	c.run("demo-worker-0")
	c.change("demo-worker-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	c.pass()
	require.NotNil(t, c.plan.Status)
	assert.Equal(t, statusDelay, c.plan.StatusCanWait)
	c.edit(func(j *v1alpha1.ReplicaJob) {
		j.Spec.ReplicaSpecs["Worker"] = v1alpha1.ReplicaSpec{Replicas: ptr.To[int32](4)}
	})
	c.pass()
	assert.Zero(t, c.plan.StatusCanWait, "another generation is seen")
}

// Pods of nonsense neither panic nor hold up the job: those that no replica is are deleted.
func TestTwinsAndNonsense(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2), success(v1alpha1.SuccessAllWorkers)))
	c.settle()
	c.run()
	for name, index := range map[string]string{
		"demo-worker-0-twin": "0", "demo-worker--1": "-1", "demo-worker-00": "0", "demo-worker-2": "2", "demo-ps-0": "0",
		"nonsense": "x", "demo-worker-": "", "demo-worker-99999999999999999999": "99999999999999999999",
	} {
		pod := c.pods["demo-worker-0"].DeepCopy()
		pod.Name = name
		pod.Labels[LabelIndex] = index
		end(pod, 0, c.now())
		c.pods[name] = pod
	}
	c.change("demo-worker-1", func(p *corev1.Pod) {
		p.Labels[LabelIndex], p.Labels[LabelType] = "-1", "?"
		p.Labels[LabelRestarts], p.Labels[LabelRestartAttempt] = "many", "-7"
	})
	c.settle()
	assert.Equal(t, podNames("Worker", 0, 1), c.names())
	c.ends(0, c.names()...)
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
}

func TestAPodWithOthersLabelsIsLetGo(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2)))
	c.settle()
	c.run()
	c.change("demo-worker-1", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Name: "other"}, {Name: "demo", Controller: new(true)}}
		p.Labels[LabelJob] = "other"
	})
	c.pass()
	require.Len(t, c.plan.Edits, 1)
	assert.Equal(t, []metav1.OwnerReference{{Name: "other"}}, c.plan.Edits[0].After.GetOwnerReferences())
	assert.Equal(t, []string{"demo-worker-1"}, c.released)
}

func TestALargeJobIsMadeInBatches(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 2*batch+1), success(v1alpha1.SuccessAllWorkers)))
	c.pass()
	for _, want := range []int{batch, 2 * batch, 2*batch + 1, 2*batch + 1} {
		c.pass()
		assert.Len(t, c.pods, want)
		assert.Equal(t, want < 2*batch+1, c.plan.RequeueAfter > 0)
	}
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	c.pass()
	c.pass()
	assert.Len(t, c.plan.Delete, batch)
	c.settle()
	assert.Empty(t, c.pods)
}

func TestPodsAsTheyAreMade(t *testing.T) {
	job := makeJob(replicas("Chief", 1), replicas("Worker", 2, restart(v1alpha1.RestartExitCode), func(s *v1alpha1.ReplicaSpec) {
		s.Template.Labels = map[string]string{"a": "b", LabelJob: "mine"}
		s.Template.Annotations = map[string]string{"x": "y"}
		s.Template.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		s.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "RANK", Value: "mine"}, {Name: "MY", Value: "$(REPLICAS)"}}
	}))
	before := job.DeepCopy()
	c := newCluster(t, job)
	c.settle()
	assert.Equal(t, before.Spec, job.Spec)
	pod := c.pods["demo-worker-1"]
	assert.Equal(t, map[string]string{
		"a": "b", wellknown.LabelManagedBy: "armature", LabelOperator: "replicajob", LabelJob: "demo", LabelType: "worker", LabelIndex: "1",
		LabelRole: "worker", LabelRestartAttempt: "0", LabelRestarts: "0",
	}, pod.Labels)
	assert.Equal(t, map[string]string{"x": "y"}, pod.Annotations)
	assert.Equal(t, corev1.RestartPolicyNever, pod.Spec.RestartPolicy)
	assert.Equal(t, "demo-worker-1", pod.Spec.Hostname)
	assert.Equal(t, "demo", pod.Spec.Subdomain)
	env := map[string]string{}
	for _, v := range pod.Spec.Containers[0].Env {
		env[v.Name] = v.Value
	}
	assert.Equal(t, map[string]string{
		"JOB_NAME": "demo", "REPLICA_TYPE": "Worker", "REPLICA_INDEX": "1", "REPLICAS": "2", "RANK": "mine", "WORLD_SIZE": "3",
		"COORDINATOR": "demo-chief-0.demo", "MY": "$(REPLICAS)",
	}, env)
	assert.Equal(t, "MY", pod.Spec.Containers[0].Env[len(env)-1].Name, "the pod's own come last, and can refer to the others")
	ranks := pod.Spec.InitContainers[0].Env
	assert.True(t, slices.Contains(ranks, corev1.EnvVar{Name: "RANK", Value: "2"}))
	assert.Equal(t, RoleMaster, c.pods["demo-chief-0"].Labels[LabelRole])
	assert.Equal(t, "api.practice.com/job-name=demo,api.practice.com/operator-name=replicajob,api.practice.com/replica-type=worker",
		c.job.Status.ReplicaStatuses["Worker"].Selector)

	for policy, want := range map[v1alpha1.ReplicaRestartPolicy]corev1.RestartPolicy{
		"": "Never", "Always": "Always", "OnFailure": "OnFailure", "Never": "Never", "ExitCode": "Never",
	} {
		c := newCluster(t, makeJob(replicas("Worker", 1, restart(policy))))
		c.settle()
		assert.Equal(t, want, c.pods["demo-worker-0"].Spec.RestartPolicy, policy)
	}
	c = newCluster(t, makeJob(replicas("Worker", 1, func(s *v1alpha1.ReplicaSpec) { s.Template.Spec.RestartPolicy = "OnFailure" })))
	c.settle()
	assert.Equal(t, corev1.RestartPolicyOnFailure, c.pods["demo-worker-0"].Spec.RestartPolicy, "the template's own, if there is no other")
	assert.Equal(t, RoleMaster, c.pods["demo-worker-0"].Labels[LabelRole], "Worker 0 leads if no one else does")
}
