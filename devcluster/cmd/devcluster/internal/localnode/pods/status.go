package pods

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	kubeletstatus "k8s.io/kubernetes/pkg/kubelet/status"
)

// ContainerIDPrefix starts the containerIDs of local processes.
const ContainerIDPrefix = "local://"

// containerID names an attempt: the pod's UID, the container and the number.
func (c *container) containerID(number int32) string {
	return fmt.Sprintf("%s%s/%s/%d", ContainerIDPrefix, c.pod.uid, c.spec.Name, number)
}

// setStatus computes the pod's status from its containers. The caller holds the mutex.
func (p *Pod) setStatus() {
	old := p.object.Status
	s := *old.DeepCopy()
	s.ObservedGeneration = podutil.CalculatePodStatusObservedGeneration(p.object)
	s.HostIP, s.HostIPs = p.host.IP, []corev1.HostIP{{IP: p.host.IP}}
	s.PodIP, s.PodIPs = p.ip, []corev1.PodIP{{IP: p.ip}}
	s.QOSClass = qos.GetPodQOS(p.object)
	s.InitContainerStatuses, s.ContainerStatuses = nil, nil
	for _, c := range p.init {
		s.InitContainerStatuses = append(s.InitContainerStatuses, c.status())
	}
	for _, c := range p.regular {
		s.ContainerStatuses = append(s.ContainerStatuses, c.status())
	}
	s.Phase = p.phase()
	s.Reason, s.Message = "", ""
	if p.finished && p.failure != nil {
		s.Reason, s.Message = p.failure.reason, p.failure.message
	}

	all := append(slices.Clone(s.InitContainerStatuses), s.ContainerStatuses...)
	p.setCondition(&s, &old, p.readyToStart())
	p.setCondition(&s, &old, kubeletstatus.GeneratePodInitializedCondition(p.object, &old, all, s.Phase))
	p.setCondition(&s, &old, kubeletstatus.GeneratePodReadyCondition(p.object, &old, s.Conditions, all, s.Phase))
	p.setCondition(&s, &old, kubeletstatus.GenerateContainersReadyCondition(p.object, &old, all, s.Phase))
	p.object.Status = s
}

func (c *container) status() corev1.ContainerStatus {
	started := c.started
	s := corev1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image,
		State: *c.state.DeepCopy(), LastTerminationState: *c.last.DeepCopy(),
		RestartCount: c.restarts, Started: &started, Ready: c.ready,
	}
	if c.attempts > 0 {
		s.ContainerID = c.containerID(c.attempts - 1)
	}
	if c.kind == initKind {
		s.Ready = c.state.Terminated != nil && c.state.Terminated.ExitCode == 0
	}
	return s
}

// phase follows the kubelet, except that a pod is Succeeded or Failed only when
// none of its processes is left. The caller holds the mutex.
func (p *Pod) phase() corev1.PodPhase {
	exited := func(c *container) bool { return c.state.Terminated != nil && c.state.Terminated.ExitCode == 0 }
	switch {
	case p.finished && p.failure == nil && !slices.ContainsFunc(p.regular, func(c *container) bool { return !exited(c) }):
		return corev1.PodSucceeded
	case p.finished:
		return corev1.PodFailed
	}
	for _, c := range p.init {
		if c.kind == initKind && !exited(c) {
			return corev1.PodPending
		}
	}
	for _, c := range p.regular {
		if c.state.Waiting != nil && c.last.Terminated == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

func (p *Pod) readyToStart() corev1.PodCondition {
	c := corev1.PodCondition{
		Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse,
		ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(
			&p.object.Status, p.object.Generation, corev1.PodReadyToStartContainers),
	}
	if p.prepared && !p.finished {
		c.Status = corev1.ConditionTrue
	}
	return c
}

func (p *Pod) setCondition(s, old *corev1.PodStatus, c corev1.PodCondition) {
	c.LastTransitionTime = p.now()
	if _, before := podutil.GetPodCondition(old, c.Type); before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	if i, _ := podutil.GetPodCondition(s, c.Type); i >= 0 {
		s.Conditions[i] = c
	} else {
		s.Conditions = append(s.Conditions, c)
	}
}

// owned are the conditions that a node sets; all others belong to somebody else.
var owned = []corev1.PodConditionType{
	corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady,
}

// MergeForeign is the conditions to write to a pod in the API: those of ours that
// nodes set, and those in the API that others have set.
func MergeForeign(ours, theirs []corev1.PodCondition) []corev1.PodCondition {
	var merged []corev1.PodCondition
	for _, c := range theirs {
		if !slices.Contains(owned, c.Type) {
			merged = append(merged, c)
		}
	}
	for _, c := range ours {
		if slices.Contains(owned, c.Type) {
			merged = append(merged, c)
		}
	}
	return merged
}
