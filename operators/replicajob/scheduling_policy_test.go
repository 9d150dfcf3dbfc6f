package replicajob

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// The scheduler may be installed later.
func TestAJobWaitsForItsGangScheduler(t *testing.T) {
	kind, view := ReplicaJobs, buildertest.NewView(epoch)
	kind.Schedulers = []v1alpha1.GangProvider{"Kubernetes", "PodDisruptionBudget"}
	plan := kind.Plan(makeJob(replicas("Worker", 1), gang(v1alpha1.SchedulingPolicy{Provider: "Volcano"})), view)
	assert.Empty(t, plan.Children)
	assert.Equal(t, askAgain, plan.RequeueAfter)
	stalled, ready := condition(plan.Status, "Stalled"), condition(plan.Status, "Ready")
	assert.Equal(t, []string{"NoGangScheduler", "NoGangScheduler"}, []string{stalled.Reason, ready.Reason})
	assert.Equal(t, "spec.runPolicy.schedulingPolicy.provider: Volcano: the cluster has no PodGroup of scheduling.volcano.sh/v1beta1; "+
		"install it, or choose one of Kubernetes, PodDisruptionBudget", ready.Message)
	assert.Empty(t, condition(plan.Status, "Failed"))
	assert.Len(t, plan.Events, 1)

	again := kind.Plan(plan.Status, view)
	assert.Nil(t, again.Status)
	assert.Empty(t, again.Events)

	kind.Schedulers = append(kind.Schedulers, "Volcano")
	plan = kind.Plan(plan.Status, view)
	assert.NotNil(t, plan.Status.Status.StartTime)
	assert.Empty(t, condition(plan.Status, "Stalled"))
}

func TestWithoutKubernetesPodGroupsADisruptionBudgetIsTheDefault(t *testing.T) {
	kind := ReplicaJobs
	kind.Schedulers = []v1alpha1.GangProvider{"PodDisruptionBudget"}
	job := makeJob(started, replicas("Worker", 2), gang(v1alpha1.SchedulingPolicy{}))
	plan := kind.Plan(job, buildertest.NewView(epoch))
	var kinds []string
	for _, child := range plan.Children {
		kinds = append(kinds, fmt.Sprintf("%T", child.Object()))
		if pod, ok := child.Object().(*corev1.Pod); ok {
			assert.Nil(t, pod.Spec.SchedulingGroup)
		}
	}
	assert.Equal(t, []string{"*v1.Service", "*v1.PodDisruptionBudget", "*v1.Pod", "*v1.Pod"}, kinds)
}

func requesting(cpu, priorityClass string) func(*v1alpha1.ReplicaSpec) {
	return func(s *v1alpha1.ReplicaSpec) {
		s.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
		s.Template.Spec.PriorityClassName = priorityClass
	}
}

func TestMinResourcesTakeHigherPrioritiesFirst(t *testing.T) {
	classes := []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: -1},
		{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 5, GlobalDefault: true},
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 10},
	}
	job := makeJob(
		replicas("Chief", 1, requesting("1", "low")), replicas("PS", 2, requesting("2", "")), replicas("Worker", 2, requesting("4", "high")))
	for n, want := range map[int32]string{1: "4", 2: "8", 3: "10", 5: "13"} {
		p := ReplicaJobs.passOf(job, buildertest.NewView(epoch))
		o := p.observe(buildertest.NewView(epoch))
		cpu := o.minResources(n, o.placeable(), classes)["cpu"]
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
		"nothing":                {corev1.PodSpec{Containers: list{{}}}, "0"},
		"a sum":                  {corev1.PodSpec{Containers: list{container("1", ""), container("500m", "9")}}, "1500m"},
		"limits for requests":    {corev1.PodSpec{Containers: list{container("", "2")}}, "2"},
		"a small init container": {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("1", "")}}, "2"},
		"a large init container": {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("3", "")}}, "3"},
		"sidecars":               {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{sidecar}}, "3"},
		"init, then sidecar":     {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{container("3", ""), sidecar}}, "3"},
		"init beside a sidecar":  {corev1.PodSpec{Containers: list{container("2", "")}, InitContainers: list{sidecar, container("3", "")}}, "4"},
		"overhead":               {corev1.PodSpec{Containers: list{container("2", "")}, Overhead: amounts("1")}, "3"},
	} {
		before := c.pod.DeepCopy()
		cpu := podRequests(&c.pod)["cpu"]
		assert.Equal(t, c.want, cpu.String(), name)
		assert.Equal(t, before, &c.pod, name)
	}
}

// The API server refuses another class for an existing PodGroup.
func TestAPodGroupKeepsItsPriorityClass(t *testing.T) {
	kind := ReplicaJobs
	kind.Schedulers = []v1alpha1.GangProvider{"Kubernetes"}
	for _, class := range []string{"low", ""} {
		job := makeJob(started, replicas("Worker", 1), gang(v1alpha1.SchedulingPolicy{PriorityClass: class}))
		existing := &schedulingv1beta1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"},
			Spec:       schedulingv1beta1.PodGroupSpec{PriorityClassName: "high"},
		}
		plan := kind.Plan(job, buildertest.NewView(epoch, existing))
		group := plan.Children[1].Object().(*schedulingv1beta1.PodGroup)
		assert.Equal(t, "high", group.Spec.PriorityClassName)

		plan = kind.Plan(job, buildertest.NewView(epoch))
		group = plan.Children[1].Object().(*schedulingv1beta1.PodGroup)
		assert.Equal(t, class, group.Spec.PriorityClassName)
	}
}
