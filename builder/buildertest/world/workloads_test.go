package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

var demoLabels = map[string]string{"app": "demo"}

// demo is the metadata of an object with a name, which the selector of the workloads here selects.
func demo(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, Labels: demoLabels}
}

func selectDemo() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: demoLabels} }

// templateOf returns a template of pods with the label of demo.
func templateOf(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: demoLabels}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: image}},
	}}
}

func deployment(replicas int32, change func(*appsv1.DeploymentSpec)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: demo("demo"), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selectDemo(), Template: templateOf("v1"),
	}}
	if change != nil {
		change(&d.Spec)
	}
	return d
}

func statefulSet(replicas int32, change func(*appsv1.StatefulSetSpec)) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: demo("demo"), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selectDemo(), Template: templateOf("v1"),
	}}
	if change != nil {
		change(&set.Spec)
	}
	return set
}

// brokenImage is an image whose pods never become ready.
const brokenImage = "broken"

// byImage is for Options.Pods: pods of images that begin with brokenImage never become ready.
func byImage(pod *corev1.Pod) world.Script {
	return world.Script{Unready: strings.HasPrefix(pod.Spec.Containers[0].Image, brokenImage)}
}

// got returns the object of a name.
func got[T client.Object](t *testing.T, w *world.World, into T, name string) T {
	t.Helper()
	require.NoError(t, w.Server().Client().Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, into))
	return into
}

// edit changes a stored object.
func edit[T client.Object](t *testing.T, w *world.World, obj T, change func(T)) {
	t.Helper()
	c := w.Server().Client("user")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
	change(obj)
	require.NoError(t, c.Update(t.Context(), obj))
}

// podNames returns the names of the pods that an owner controls; nil: of those without a controller.
func podNames(t *testing.T, w *world.World, owner client.Object) []string {
	t.Helper()
	pods := &corev1.PodList{}
	require.NoError(t, w.Server().Client().List(t.Context(), pods))
	var names []string
	for i := range pods.Items {
		ref := metav1.GetControllerOf(&pods.Items[i])
		if ref == nil && owner == nil || ref != nil && owner != nil && ref.UID == owner.GetUID() {
			names = append(names, pods.Items[i].Name)
		}
	}
	return names
}

// sizesByImage returns the sizes of the ReplicaSets by the image of their template.
func sizesByImage(t *testing.T, w *world.World) map[string]int32 {
	t.Helper()
	sets := &appsv1.ReplicaSetList{}
	require.NoError(t, w.Server().Client().List(t.Context(), sets))
	sizes := map[string]int32{}
	for i := range sets.Items {
		sizes[sets.Items[i].Spec.Template.Spec.Containers[0].Image] = *sets.Items[i].Spec.Replicas
	}
	return sizes
}

// assertProgress checks the reason and the status of a Deployment's condition Progressing.
func assertProgress(t *testing.T, w *world.World, status corev1.ConditionStatus, reason string) {
	t.Helper()
	for _, c := range got(t, w, &appsv1.Deployment{}, "demo").Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing {
			assert.Equal(t, reason, c.Reason, c.Message)
			assert.Equal(t, status, c.Status, c.Message)
			return
		}
	}
	t.Errorf("the Deployment has no condition Progressing; %s with the reason %s is expected", status, reason)
}

// The scheduler counts a sidecar beside the containers, because both run at the same time.
func TestTheSchedulerCountsSidecars(t *testing.T) {
	n := node("n1")
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	half := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("600m")}}
	pod := &corev1.Pod{ObjectMeta: demo("demo"), Spec: templateOf("v1").Spec}
	pod.Spec.Containers[0].Resources = half
	pod.Spec.InitContainers = []corev1.Container{{
		Name: "proxy", Image: "v1", Resources: half, RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
	}}
	w := newWorld(t, world.Options{}, n, pod)
	require.NoError(t, w.Settle(t.Context()))
	assert.Empty(t, got(t, w, pod, "demo").Spec.NodeName)
}

// The pods of a lost node aren't ready, and after 5 minutes they are evicted. They terminate until the kubelet is back.
func TestALostNodeLosesItsPods(t *testing.T) {
	d := deployment(2, nil)
	w := newWorld(t, world.Options{}, world.Node("n1"), world.Node("n2"), d)
	require.NoError(t, w.Settle(t.Context()))
	set := func(status corev1.ConditionStatus) {
		n := node("n1")
		c := w.Server().Client("user")
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(n), n))
		n.Status.Conditions[0].Status = status
		require.NoError(t, c.Status().Update(t.Context(), n))
	}
	set(corev1.ConditionUnknown)
	require.NoError(t, w.Wait(t.Context(), 299*time.Second))
	assert.EqualValues(t, 1, got(t, w, d, "demo").Status.AvailableReplicas)
	assert.EqualValues(t, 2, got(t, w, d, "demo").Status.Replicas)
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	assert.EqualValues(t, 2, got(t, w, d, "demo").Status.AvailableReplicas)
	pods := &corev1.PodList{}
	require.NoError(t, w.Server().Client().List(t.Context(), pods))
	var onLost []string
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == "n1" {
			assert.NotNil(t, pods.Items[i].DeletionTimestamp)
			onLost = append(onLost, pods.Items[i].Name)
		}
	}
	assert.Len(t, onLost, 1, "the pod terminates, because no kubelet ends it")

	set(corev1.ConditionTrue)
	require.NoError(t, w.Wait(t.Context(), time.Hour))
	n := node("n1")
	require.NoError(t, w.Server().Client().Get(t.Context(), client.ObjectKeyFromObject(n), n))
	assert.Empty(t, n.Spec.Taints)
	require.NoError(t, w.Server().Client().List(t.Context(), pods))
	assert.Len(t, pods.Items, 2)
}
