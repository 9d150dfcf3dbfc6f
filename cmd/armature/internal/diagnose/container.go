package diagnose

import corev1 "k8s.io/api/core/v1"

// container is a container of a pod with its status.
type container struct {
	corev1.Container
	status corev1.ContainerStatus
	isInit bool
}

// what names a container in a sentence.
func (c container) what() string {
	if c.isInit {
		return "init container " + c.Name
	}
	return "container " + c.Name
}

// containers returns a pod's containers, in the order in which they start. Of a failed pod, sidecars are last: the kubelet restarts a
// sidecar that fails, and stops it once the other containers have ended, so that its exit code is a result of the failure.
func containers(pod *corev1.Pod) []container {
	var all, sidecars []container
	add := func(specs []corev1.Container, statuses []corev1.ContainerStatus, isInit bool) {
		for i := range specs {
			c := container{Container: specs[i], isInit: isInit}
			for j := range statuses {
				if statuses[j].Name == c.Name {
					c.status = statuses[j]
				}
			}
			if pod.Status.Phase == corev1.PodFailed && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars = append(sidecars, c)
				continue
			}
			all = append(all, c)
		}
	}
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true)
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, false)
	return append(all, sidecars...)
}

// FailedContainer returns the name of the container that a failed pod failed by, empty if none has ended with an error.
func FailedContainer(pod *corev1.Pod) string {
	for _, c := range containers(pod) {
		if ended := c.status.State.Terminated; ended != nil && ended.ExitCode != 0 {
			return c.Name
		}
	}
	return ""
}

// ended returns how the container ended: now, or the last time if it waits for a restart.
func (c container) ended() *corev1.ContainerStateTerminated {
	switch {
	case c.status.State.Terminated != nil:
		return c.status.State.Terminated
	case c.status.State.Waiting != nil:
		return c.status.LastTerminationState.Terminated
	case c.status.State.Running != nil && !c.status.Ready && c.status.RestartCount > 1:
		return c.status.LastTerminationState.Terminated
	default:
		return nil
	}
}
