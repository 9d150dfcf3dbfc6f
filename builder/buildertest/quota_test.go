package buildertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// amounts returns a list of resources from pairs of a name and an amount.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func quotaOf(name string, pairs ...string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: amounts(pairs...)},
	}
}

func containerOf(name string, requests, limits corev1.ResourceList) corev1.Container {
	return corev1.Container{Name: name, Image: "busybox", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
}

func podWith(name string, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{Containers: containers}}
}

// ended returns a pod of the server that has ended.
func ended(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodSucceeded
	return pod
}

func TestQuotaOfPods(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList { return amounts("cpu", amount) }
	always := corev1.ContainerRestartPolicyAlways
	sidecar := containerOf("proxy", cpu("1"), nil)
	sidecar.RestartPolicy = &always
	withInit := func(pod *corev1.Pod, containers ...corev1.Container) *corev1.Pod {
		pod.Spec.InitContainers = containers
		return pod
	}
	wholePod := podWith("new", containerOf("main", nil, nil))
	wholePod.Spec.Resources = &corev1.ResourceRequirements{Requests: cpu("1")}
	gpus := amounts("nvidia.com/gpu", "2")
	pages := amounts("cpu", "1", "hugepages-2Mi", "2Mi")
	overhead := podWith("new", containerOf("main", cpu("1"), nil))
	overhead.Spec.Overhead = cpu("500m")
	for _, tt := range []struct {
		name     string
		quota    *corev1.ResourceQuota
		existing []client.Object
		pod      *corev1.Pod
		refusal  string // empty: the pod is admitted
	}{
		{"a missing request", quotaOf("q", "requests.cpu", "1"), nil, podWith("new", containerOf("main", nil, nil)),
			"failed quota: q: must specify requests.cpu for: main"},
		{"a missing request of one container", quotaOf("q", "cpu", "2", "limits.memory", "1Gi", "pods", "9"), nil,
			withInit(podWith("new", containerOf("main", nil, amounts("cpu", "1", "memory", "1Mi")), containerOf("b", cpu("1"), nil)),
				containerOf("a", nil, nil)),
			"failed quota: q: must specify cpu for: a; limits.memory for: a,b"},
		{"requests of the whole pod are enough", quotaOf("q", "requests.cpu", "1", "limits.cpu", "1"), nil, wholePod, ""},
		{"requests of the whole pod count", quotaOf("q", "requests.cpu", "900m"), nil, wholePod,
			"exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=0, limited: requests.cpu=900m"},
		{"other resources need no request", quotaOf("q", "requests.nvidia.com/gpu", "1", "requests.ephemeral-storage", "1Gi"), nil,
			podWith("new", containerOf("main", nil, nil)), ""},
		{"an extended resource counts as a request only", quotaOf("q", "nvidia.com/gpu", "1", "limits.nvidia.com/gpu", "1"), nil,
			podWith("new", containerOf("main", gpus, gpus)), ""},
		{"requests of an extended resource count", quotaOf("q", "requests.nvidia.com/gpu", "1"), nil,
			podWith("new", containerOf("main", gpus, gpus)),
			"exceeded quota: q, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=1"},
		{"limits of huge pages don't count", quotaOf("q", "limits.hugepages-2Mi", "1Mi"), nil,
			podWith("new", containerOf("main", pages, pages)), ""},
		{"requests default to limits", quotaOf("q", "requests.cpu", "1"), nil, podWith("new", containerOf("main", nil, cpu("2"))),
			"exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1"},
		{"limits count", quotaOf("q", "limits.cpu", "3"), []client.Object{podWith("old", containerOf("main", nil, cpu("2")))},
			podWith("new", containerOf("main", cpu("1"), cpu("2"))),
			"exceeded quota: q, requested: limits.cpu=2, used: limits.cpu=2, limited: limits.cpu=3"},
		{"the largest init container counts", quotaOf("q", "cpu", "3"), nil,
			withInit(podWith("new", containerOf("main", cpu("1"), nil)), containerOf("a", cpu("2"), nil), containerOf("b", cpu("4"), nil)),
			"exceeded quota: q, requested: cpu=4, used: cpu=0, limited: cpu=3"},
		{"sidecars count too", quotaOf("q", "cpu", "1"), nil, withInit(podWith("new", containerOf("main", cpu("1"), nil)), sidecar),
			"exceeded quota: q, requested: cpu=2, used: cpu=0, limited: cpu=1"},
		{"a runtime's overhead counts", quotaOf("q", "cpu", "1"), nil, overhead,
			"exceeded quota: q, requested: cpu=1500m, used: cpu=0, limited: cpu=1"},
		{"an ended pod counts as an object", quotaOf("q", "count/pods", "1"), []client.Object{ended(podWith("old", sidecar))},
			podWith("new", containerOf("main", nil, nil)),
			"exceeded quota: q, requested: count/pods=1, used: count/pods=1, limited: count/pods=1"},
		{"an ended pod is no running one", quotaOf("q", "pods", "1", "cpu", "1"), []client.Object{ended(podWith("old", sidecar))},
			podWith("new", sidecar), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(append(tt.existing, tt.quota)...)
			err := s.Client().Create(t.Context(), tt.pod.DeepCopy())
			if tt.refusal == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			assert.EqualError(t, err, `pods "new" is forbidden: `+tt.refusal)
		})
	}
}

// Nobody deletes the pod of a lost node: its grace period has passed.
func TestAPodThatShouldBeDeletedCountsAsAnObjectOnly(t *testing.T) {
	lost := podWith("lost", containerOf("main", nil, nil))
	lost.Spec.NodeName = "n1"
	s := newServer(lost, quotaOf("running", "pods", "1"), quotaOf("all", "count/pods", "2"))
	c := s.Client()
	require.NoError(t, c.Delete(t.Context(), lost))
	require.Error(t, c.Create(t.Context(), podWith("new", containerOf("main", nil, nil))))
	s.Clock().Step(2 * corev1.DefaultTerminationGracePeriodSeconds * time.Second)
	require.NoError(t, c.Create(t.Context(), podWith("new", containerOf("main", nil, nil))))
	err := c.Create(t.Context(), podWith("another", containerOf("main", nil, nil)))
	assert.ErrorContains(t, err, "exceeded quota: all, requested: count/pods=1, used: count/pods=2, limited: count/pods=2")
}
