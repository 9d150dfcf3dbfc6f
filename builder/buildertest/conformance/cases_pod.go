package conformance

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podReferences starts pods before the Secret and the ConfigMap that they need.
func podReferences(s *session) {
	local := corev1.LocalObjectReference{Name: "config"}
	pods := map[string]func(*corev1.PodSpec){
		"key": func(o *corev1.PodSpec) {
			o.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local, Key: "key"},
			}}}
		},
		"all": func(o *corev1.PodSpec) {
			o.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local}}}
		},
		"volume": func(o *corev1.PodSpec) {
			o.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "config"}}}}
		},
	}
	names := []string{"key", "all", "volume"}
	for _, name := range names {
		pod := &corev1.Pod{ObjectMeta: meta(name), Spec: corev1.PodSpec{
			Containers: []corev1.Container{s.runs(name, -1)}, TerminationGracePeriodSeconds: new(int64(1)),
		}}
		pods[name](&pod.Spec)
		s.given(pod)
	}
	for _, name := range names {
		waiting := func(o *corev1.Pod) *corev1.ContainerStateWaiting {
			if len(o.Status.ContainerStatuses) != 1 {
				return nil
			}
			return o.Status.ContainerStatuses[0].State.Waiting
		}
		pod := awaits(s, "a reason", s.pod(name), func(o *corev1.Pod) bool {
			w := waiting(o)
			return w != nil && (name == "volume" || w.Reason != "ContainerCreating") // the kubelet's first reason for all pods
		})
		s.note(name, []string{string(pod.Status.Phase), waiting(pod).Reason}) // the messages differ between kubelets
	}
	s.given(&corev1.Secret{ObjectMeta: meta("config"), Data: map[string][]byte{"key": []byte("x")}})
	s.given(&corev1.ConfigMap{ObjectMeta: meta("config"), Data: map[string]string{"KEY": "x"}})
	for _, name := range names {
		pod := awaits(s, "a running container", s.pod(name), func(o *corev1.Pod) bool { return o.Status.Phase == corev1.PodRunning })
		s.note(name+" runs", pod.Status.ContainerStatuses[0].RestartCount)
	}
}

// podQuota creates pods beyond quotas of what they request and are limited to.
func podQuota(s *session) {
	list := func(pairs ...string) corev1.ResourceList {
		all := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			all[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return all
	}
	container := func(name string, requests, limits corev1.ResourceList) corev1.Container {
		c := s.runs("quota-*", 0)
		c.Name, c.Resources = name, corev1.ResourceRequirements{Requests: requests, Limits: limits}
		return c
	}
	quotaPod := func(name string, init []corev1.Container, containers ...corev1.Container) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: meta("quota-" + name), Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, InitContainers: init, Containers: containers,
		}}
	}
	cpu := list("cpu", "100m")
	main := container("main", cpu, nil)
	compute := s.quota("compute", list("requests.cpu", "150m", "limits.memory", "100Mi"))
	s.create("nothing is specified", quotaPod("none", nil, container("b", nil, nil), container("a", cpu, nil)))
	both := container("main", nil, list("cpu", "100m", "memory", "60Mi"))
	s.create("an init container specifies nothing", quotaPod("init", []corev1.Container{container("first", nil, nil)}, both))
	large := container("first", list("cpu", "200m"), list("memory", "1Mi"))
	s.create("a large init container", quotaPod("large", []corev1.Container{large}, both))
	sidecar := container("proxy", cpu, list("memory", "60Mi"))
	sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	s.create("a sidecar beside the container", quotaPod("sidecar", []corev1.Container{sidecar}, both))
	whole := quotaPod("whole", nil, container("main", nil, nil))
	whole.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "200m")}
	s.create("requests of the whole pod", whole)
	s.delete("delete the quota", compute)
	s.goes("it goes", compute)
	s.admits(true)

	first := s.given(quotaPod("ended", nil, main)).(*corev1.Pod)
	awaits(s, "the end", first, func(o *corev1.Pod) bool { return o.Status.Phase == corev1.PodSucceeded })
	s.quota("objects", list("count/pods", "1"))
	s.create("an ended pod is an object", quotaPod("second", nil, main))
	s.delete("delete the ended pod", first)
}

// quota creates a quota, and waits until the API server admits objects by it.
func (s *session) quota(name string, hard corev1.ResourceList) *corev1.ResourceQuota {
	hard["count/secrets"] = resource.MustParse("0")
	quota := s.given(&corev1.ResourceQuota{ObjectMeta: meta(name), Spec: corev1.ResourceQuotaSpec{Hard: hard}}).(*corev1.ResourceQuota)
	s.admits(false)
	return quota
}

// admits waits until the API server admits a Secret, or refuses it because of a quota. The admission of a real one has a cache of
// quotas, which lags behind what a client reads, and knows nothing of a quota before its controller has counted. A simulated one has
// neither, and only quotas of pods.
func (s *session) admits(want bool) {
	s.t.Helper()
	if s.target.Script != nil {
		return
	}
	probe := &corev1.Secret{ObjectMeta: meta("probe")}
	s.place(probe)
	var err error
	if !s.target.Await(func() bool {
		err = s.client.Create(s.ctx, copyOf(probe), client.DryRunAll)
		return want && err == nil || !want && apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ")
	}) {
		s.t.Fatalf("the API server's admission doesn't know the quotas of %s: the last answer is %v", s.namespace, err)
	}
}
