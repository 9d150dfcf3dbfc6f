package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

var allSchedulers = []v1alpha1.GangProvider{"Kubernetes", "Volcano", "SchedulerPlugins", "PodDisruptionBudget"}

func gang(policy v1alpha1.SchedulingPolicy) option {
	return run(func(p *v1alpha1.RunPolicy) { p.SchedulingPolicy = &policy })
}

func requesting(cpu, memory string) func(*v1alpha1.ReplicaSpec) {
	return func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
}

func scheduling(t *testing.T, policy v1alpha1.SchedulingPolicy) *cluster {
	c := newCluster(t, makeJob(replicas("Chief", 1, requesting("1", "1Gi")), replicas("Worker", 3, requesting("500m", "2Gi")), gang(policy)))
	c.kind.Schedulers = allSchedulers
	return c
}

// group returns the one child that isn't a pod or Service.
func (c *cluster) group() client.Object {
	c.t.Helper()
	var found client.Object
	for _, child := range c.plan.Children {
		switch child.Object().(type) {
		case *corev1.Pod, *corev1.Service:
		default:
			require.Nil(c.t, found)
			found = child.Object()
		}
	}
	return found
}

func TestGangByPodDisruptionBudget(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget"})
	c.settle()
	budget := c.group().(*policyv1.PodDisruptionBudget)
	assert.Equal(t, "demo", budget.Name)
	assert.EqualValues(t, 4, budget.Spec.MinAvailable.IntVal)
	assert.Equal(t, map[string]string(selectorOf("replicajob", "demo")), budget.Spec.Selector.MatchLabels)
	assert.Contains(t, c.plan.Prune, client.Object(&policyv1.PodDisruptionBudget{}))
	assert.Len(t, c.pods, 4)
}

func TestGangByKubernetes(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{MinAvailable: ptr.To[int32](2), PriorityClass: "high"})
	c.settle()
	group := c.group().(*schedulingv1beta1.PodGroup)
	assert.EqualValues(t, 2, group.Spec.SchedulingPolicy.Gang.MinCount)
	assert.Equal(t, "high", group.Spec.PriorityClassName)
	for _, pod := range c.pods {
		assert.Equal(t, "demo", *pod.Spec.SchedulingGroup.PodGroupName)
	}
	without := scheduling(t, v1alpha1.SchedulingPolicy{})
	without.kind.Schedulers = []v1alpha1.GangProvider{"PodDisruptionBudget"}
	without.settle()
	assert.IsType(t, &policyv1.PodDisruptionBudget{}, without.group(), "the cluster doesn't have the API")
	for _, pod := range without.pods {
		assert.Nil(t, pod.Spec.SchedulingGroup)
	}
}

func TestGangByVolcano(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{Provider: "Volcano", MinAvailable: ptr.To[int32](2), Queue: "q", PriorityClass: "high"})
	c.settle()
	assert.Empty(t, c.pods, "Volcano hasn't let the group in")
	group := c.group().(*unstructured.Unstructured)
	assert.Equal(t, "scheduling.volcano.sh/v1beta1", group.GetAPIVersion())
	assert.Equal(t, map[string]any{
		"minMember": int64(2), "queue": "q", "priorityClassName": "high",
		"minResources": map[string]any{"cpu": "1500m", "memory": "3Gi"},
	}, group.Object["spec"])

	seen := group.DeepCopy()
	seen.Object["status"] = map[string]any{"phase": "Pending"}
	c.others = []client.Object{seen}
	c.settle()
	assert.Empty(t, c.pods)
	seen.Object["status"] = map[string]any{"phase": "Inqueue"}
	c.settle()
	assert.Len(t, c.pods, 4)
	pod := c.pods["demo-worker-0"]
	assert.Equal(t, "volcano", pod.Spec.SchedulerName)
	assert.Equal(t, map[string]string{"scheduling.k8s.io/group-name": "demo", "volcano.sh/task-spec": "worker"}, pod.Annotations)
}

func TestGangBySchedulerPlugins(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{
		Provider: "SchedulerPlugins", ScheduleTimeoutSeconds: ptr.To[int32](30), MinResources: corev1.ResourceList{"cpu": resource.MustParse("7")},
	})
	worker := c.job.Spec.ReplicaSpecs["Worker"]
	worker.Template.Spec.SchedulerName = "mine"
	c.job.Spec.ReplicaSpecs["Worker"] = worker
	c.settle()
	group := c.group().(*unstructured.Unstructured)
	assert.Equal(t, "scheduling.x-k8s.io/v1alpha1", group.GetAPIVersion())
	assert.Equal(t, map[string]any{
		"minMember": int64(4), "scheduleTimeoutSeconds": int64(30), "minResources": map[string]any{"cpu": "7"},
	}, group.Object["spec"])
	assert.Equal(t, "mine", c.pods["demo-worker-0"].Spec.SchedulerName, "set only where it is empty")
	assert.Equal(t, "scheduler-plugins-scheduler", c.pods["demo-chief-0"].Spec.SchedulerName)
	assert.Equal(t, "demo", c.pods["demo-worker-0"].Labels["scheduling.x-k8s.io/pod-group"])
}

func TestGangThatTheClusterDoesNotHave(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{Provider: "Volcano"})
	c.kind.Schedulers = []v1alpha1.GangProvider{"Kubernetes", "PodDisruptionBudget"}
	c.settle()
	assert.Empty(t, c.pods)
	assert.Empty(t, c.plan.Children)
	assert.Equal(t, "NoGangScheduler", c.is("Stalled"))
	assert.Equal(t, "spec.runPolicy.schedulingPolicy.provider: Volcano: the cluster has no PodGroup of scheduling.volcano.sh/v1beta1; "+
		"install it, or choose one of Kubernetes, PodDisruptionBudget", c.condition("Ready").Message)
	assert.Empty(t, c.is("Failed"), "it may come")
	assert.Equal(t, askAgain, c.plan.RequeueAfter)
	assert.Equal(t, []string{"NoGangScheduler"}, c.reasons())
	c.kind.Schedulers = allSchedulers
	c.settle()
	assert.Empty(t, c.is("Stalled"))
}

func TestGangFieldsOfOtherProvidersAreRefused(t *testing.T) {
	for want, policy := range map[string]v1alpha1.SchedulingPolicy{
		"queue: Forbidden: the provider Kubernetes doesn't know it":        {Queue: "q"},
		"priorityClass: Forbidden":                                         {Provider: "SchedulerPlugins", PriorityClass: "p"},
		"minResources: Forbidden":                                          {Provider: "PodDisruptionBudget", MinResources: corev1.ResourceList{}},
		"scheduleTimeoutSeconds: Forbidden":                                {Provider: "Volcano", ScheduleTimeoutSeconds: ptr.To[int32](1)},
		"minAvailable: Invalid value: 5: it must be 1 to 4, the number of": {MinAvailable: ptr.To[int32](5)},
	} {
		c := scheduling(t, policy)
		c.settle()
		assert.Empty(t, c.pods)
		assert.Equal(t, "InvalidSpec", c.is("Stalled"))
		assert.Contains(t, c.condition("Stalled").Message, want)
	}
}

func TestGangComesAndGoes(t *testing.T) {
	c := scheduling(t, v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget"})
	c.settle()
	c.edit(func(j *v1alpha1.ReplicaJob) { replicas("Worker", 1)(j) })
	c.settle()
	assert.EqualValues(t, 2, c.group().(*policyv1.PodDisruptionBudget).Spec.MinAvailable.IntVal)
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.SchedulingPolicy = nil })
	c.settle()
	assert.Nil(t, c.group())
	assert.Len(t, c.plan.Prune, 5, "of all kinds that the cluster has, and Services")
}

func TestMinResourcesTakeHigherPrioritiesFirst(t *testing.T) {
	classes := []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: -1},
		{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 5, GlobalDefault: true},
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 10},
	}
	class := func(name string) func(*v1alpha1.ReplicaSpec) {
		return func(s *v1alpha1.ReplicaSpec) { s.Template.Spec.PriorityClassName = name }
	}
	job := makeJob(replicas("Chief", 1, requesting("1", "1Gi"), class("low")), replicas("PS", 2, requesting("2", "1Gi")), replicas("Worker", 2, requesting("4", "1Gi"), class("high")))
	for n, want := range map[int32]string{1: "4", 2: "8", 3: "10", 5: "13"} {
		p := ReplicaJobs.passOf(job, buildertest.NewView(epoch))
		cpu := p.observe(buildertest.NewView(epoch)).minResources(n, classes)["cpu"]
		assert.Equal(t, want, cpu.String(), n)
	}
}

func TestPodRequests(t *testing.T) {
	amounts := func(cpu string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(cpu)} }
	container := func(request, limit string) corev1.Container {
		var c corev1.Container
		if request != "" {
			c.Resources.Requests = amounts(request)
		}
		if limit != "" {
			c.Resources.Limits = amounts(limit)
		}
		return c
	}
	sidecar := container("1", "")
	sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	type list = []corev1.Container
	for name, c := range map[string]struct {
		pod  corev1.PodSpec
		want string
	}{
		"nothing":                   {corev1.PodSpec{Containers: list{{}}}, "0"},
		"a sum":                     {corev1.PodSpec{Containers: list{container("1", ""), container("500m", "9")}}, "1500m"},
		"limits stand for requests": {corev1.PodSpec{Containers: list{container("", "2")}}, "2"},
		"a small init container":    {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("1", "")}}, "2"},
		"a large init container":    {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("3", "")}}, "3"},
		"sidecars":                  {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{sidecar}}, "3"},
		"init, then sidecar":        {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("3", ""), sidecar}}, "3"},
		"init beside a sidecar":     {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{sidecar, container("3", "")}}, "4"},
		"overhead":                  {corev1.PodSpec{Containers: list{container("2", "")}, Overhead: amounts("1")}, "3"},
	} {
		before := c.pod.DeepCopy()
		cpu := podRequests(&c.pod)["cpu"]
		assert.Equal(t, c.want, cpu.String(), name)
		assert.Equal(t, before, &c.pod, name)
	}
}
