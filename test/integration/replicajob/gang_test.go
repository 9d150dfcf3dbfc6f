package replicajob

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
	"github.com/armature-dev/armature/test/testcluster"
)

// group waits for the object that a job's gang scheduler reads.
func (p *place) group(name string, obj client.Object) {
	p.T.Helper()
	p.Eventually("the group of "+name, func() bool {
		return p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, obj) == nil
	}, func() any { return p.get(name).Status })
}

func TestGangByKubernetes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var counted requests
	p.manage(counted.Record)
	p.create("fits", `{runPolicy: {schedulingPolicy: {minAvailable: 2}}, successPolicy: {rule: AllWorkers},
		replicaSpecs: {Worker: {replicas: 3, template: `+sh("true")+`}}}`)
	group := &schedulingv1beta1.PodGroup{}
	p.waitState("fits", v1alpha1.ReplicaJobSucceeded)
	for _, pod := range p.podList("fits") {
		assert.Equal(t, "fits", *pod.Spec.SchedulingGroup.PodGroupName)
	}
	p.Eventually("its group goes", func() bool { return p.isGone("fits", group) })

	p.create("too-large", `{runPolicy: {schedulingPolicy: {}}, replicaSpecs: {Worker: {replicas: 2, template: `+sh(forever)+`},
		Giant: {template: {spec: {containers: [{name: c, image: none, command: [sleep, "600"], resources: {requests: {cpu: 100k}}}]}}}}}`)
	p.group("too-large", group)
	assert.EqualValues(t, 3, group.Spec.SchedulingPolicy.Gang.MinCount)
	p.Eventually("the scheduler gives up", func() bool {
		p.group("too-large", group)
		c := meta.FindStatusCondition(group.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
		return c != nil && c.Status == metav1.ConditionFalse
	}, func() any { return group })
	for _, pod := range p.podList("too-large") {
		assert.Empty(t, pod.Spec.NodeName, "all or none")
	}
	requests := slices.DeleteFunc(counted.seen("/podgroups"), func(request string) bool {
		return strings.HasPrefix(request, "PATCH ") // minCount follows the pods that end
	})
	assert.Len(t, requests, 3, "each was made once, and the first deleted")
	p.MustKubectl("scale", "replicajob/too-large", "--replicas=1")
	p.Eventually("it follows the replicas", func() bool {
		p.group("too-large", group)
		return group.Spec.SchedulingPolicy.Gang.MinCount == 2
	})
}

func TestGangByPodDisruptionBudget(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manage()
	p.create("kept", `{runPolicy: {schedulingPolicy: {provider: PodDisruptionBudget, minAvailable: 2}}, replicaSpecs: {Worker: {replicas: 3, template: `+sh(forever)+`}}}`)
	p.waitPods("kept", running, "kept-worker-0", "kept-worker-1", "kept-worker-2")
	budget := &policyv1.PodDisruptionBudget{}
	p.Eventually("one pod may be evicted", func() bool {
		p.group("kept", budget)
		return budget.Status.CurrentHealthy == 3 && budget.Status.DisruptionsAllowed == 1
	})
	assert.EqualValues(t, 1, budget.Generation)
	p.change("kept", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.SchedulingPolicy.MinAvailable = ptr.To[int32](3) })
	p.Eventually("none may be", func() bool {
		p.group("kept", budget)
		return budget.Spec.MinAvailable.IntValue() == 3
	})
	p.change("kept", func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.SchedulingPolicy = nil })
	p.Eventually("it goes", func() bool { return p.isGone("kept", budget) })
}

func TestGangsOfOtherSchedulers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	podGroup := func(apiVersion string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(apiVersion)
		u.SetKind("PodGroup")
		return u
	}
	spec := func(policy string) string {
		return `{runPolicy: {schedulingPolicy: ` + policy + `}, replicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [
			{name: c, image: none, command: [sleep, "600"], resources: {requests: {cpu: 10m}}}]}}}}}`
	}
	p.create("volcano", spec(`{provider: Volcano, queue: q}`))
	p.wait("volcano", "its scheduler isn't installed, if no earlier run has done it", func(j *v1alpha1.ReplicaJob) bool {
		return reason(j, "Stalled") == "NoGangScheduler" || reason(j, "Ready") == "Pending"
	})
	testcluster.InstallCRDs(t, "testdata/crd") // while the manager runs
	theirs := podGroup("scheduling.volcano.sh/v1beta1")
	p.group("volcano", theirs)
	assert.Equal(t, map[string]any{"minMember": int64(2), "queue": "q", "minResources": map[string]any{"cpu": "20m"}}, theirs.Object["spec"])
	assert.Empty(t, p.podList("volcano"), "the group hasn't been let in")
	require.NoError(t, unstructured.SetNestedField(theirs.Object, "Inqueue", "status", "phase"))
	require.NoError(t, p.Client.Status().Update(t.Context(), theirs))
	p.waitPods("volcano", corev1.PodPending, "volcano-worker-0", "volcano-worker-1")
	assert.Equal(t, "volcano", p.pod("volcano-worker-0").Spec.SchedulerName)
	assert.Equal(t, "volcano", p.pod("volcano-worker-0").Annotations["scheduling.k8s.io/group-name"])

	p.create("plugins", spec(`{provider: SchedulerPlugins, scheduleTimeoutSeconds: 10}`))
	p.waitPods("plugins", corev1.PodPending, "plugins-worker-0", "plugins-worker-1")
	other := podGroup("scheduling.x-k8s.io/v1alpha1")
	p.group("plugins", other)
	assert.Equal(t, map[string]any{"minMember": int64(2), "scheduleTimeoutSeconds": int64(10), "minResources": map[string]any{"cpu": "20m"}}, other.Object["spec"])
	p.group("volcano", theirs)
	assert.EqualValues(t, 1, theirs.GetGeneration(), "it was written once")

	p.create("refused", spec(`{provider: SchedulerPlugins, queue: q}`))
	job := p.wait("refused", "a field that the provider doesn't know", func(j *v1alpha1.ReplicaJob) bool { return reason(j, "Stalled") == "InvalidSpec" })
	assert.Contains(t, meta.FindStatusCondition(job.Status.Conditions, "Ready").Message, "spec.runPolicy.schedulingPolicy.queue: Forbidden")
	for name, group := range map[string]*unstructured.Unstructured{"volcano": theirs, "plugins": other} {
		p.MustKubectl("scale", "replicajob/"+name, "--replicas=3")
		p.Eventually("the group follows the replicas", func() bool {
			p.group(name, group)
			least, _, _ := unstructured.NestedInt64(group.Object, "spec", "minMember")
			return least == 3
		})
		p.change(name, func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
		p.Eventually("the group goes", func() bool { return p.isGone(name, group) })
	}
}

func TestAServiceThatSomeoneChangesIsPutBack(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("job", `{replicaSpecs: {Worker: {template: `+sh(forever)+`}}}`)
	service := &corev1.Service{}
	p.group("job", service)
	p.Edit(service, func() { service.Spec.PublishNotReadyAddresses = false })
	p.Eventually("it is as before", func() bool {
		p.group("job", service)
		return service.Spec.PublishNotReadyAddresses
	})
}
