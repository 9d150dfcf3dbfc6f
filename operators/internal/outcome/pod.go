package outcome

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodFailure is how a pod failed.
type PodFailure struct {
	// ExitCode is that of the container that failed. Nil: none of them has one, as of a pod that was evicted or whose
	// node was lost.
	ExitCode *int32
	// Reasons are all that is said in one word: of the pod (Evicted), of its condition DisruptionTarget
	// (PreemptionByScheduler, and DisruptionTarget itself), and of the containers that failed (OOMKilled).
	Reasons []string
	// Messages are what is said in sentences, by the pod, its condition DisruptionTarget and the containers that failed.
	Messages []string
	// Ended is when its last container ended. Nil if that isn't known.
	Ended *metav1.Time
}

// OfPodFailure returns how a failed pod failed. The exit code is that of the container of this name, or of the first
// container if there is none of this name; if that one has not failed, of the first that has.
func OfPodFailure(pod *corev1.Pod, container string) PodFailure {
	f := PodFailure{Ended: PodEnded(pod)}
	f.say(pod.Status.Reason, pod.Status.Message)
	if c := Disruption(pod); c != nil {
		f.say(string(c.Type), "")
		f.say(c.Reason, c.Message)
	}
	asked := container
	if c := DefaultContainer(&pod.Spec, container); c != nil {
		asked = c.Name
	}
	hasAsked := false
	eachTerminated(pod, func(name string, end *corev1.ContainerStateTerminated) {
		if end.ExitCode == 0 {
			return
		}
		f.say(end.Reason, end.Message)
		if f.ExitCode == nil || (name == asked && !hasAsked) {
			f.ExitCode, hasAsked = &end.ExitCode, name == asked
		}
	})
	return f
}

func (f *PodFailure) say(reason, message string) {
	if reason != "" {
		f.Reasons = append(f.Reasons, reason)
	}
	if message != "" {
		f.Messages = append(f.Messages, message)
	}
}

// PodEnded returns when a pod's last container ended, or nil. A pod that still runs hasn't ended, although its init containers have. The
// end of a container of a pod whose node is gone isn't known: the last report is that it runs, or waits for a restart.
func PodEnded(pod *corev1.Pod) *metav1.Time {
	if !HasEnded(pod) && len(pod.Status.ContainerStatuses) == 0 {
		return nil
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated == nil && (c.State.Running != nil || c.RestartCount > 0 || !HasEnded(pod)) {
			return nil
		}
	}
	var last *metav1.Time
	eachTerminated(pod, func(_ string, end *corev1.ContainerStateTerminated) {
		if !end.FinishedAt.IsZero() && (last == nil || last.Before(&end.FinishedAt)) {
			last = &end.FinishedAt
		}
	})
	return last
}

// PodRestarts returns how often the kubelet has restarted containers of a pod in place.
func PodRestarts(pod *corev1.Pod) int32 {
	var n int32
	for i := range pod.Status.InitContainerStatuses {
		n += pod.Status.InitContainerStatuses[i].RestartCount
	}
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

// PodReady reports whether a pod is ready.
func PodReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// DefaultContainer returns the container of a name, or the first one, or nil.
func DefaultContainer(pod *corev1.PodSpec, name string) *corev1.Container {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return &pod.Containers[i]
		}
	}
	if len(pod.Containers) == 0 {
		return nil
	}
	return &pod.Containers[0]
}

// eachTerminated calls f with each container that ended: in the order of the statuses, init containers after the others.
func eachTerminated(pod *corev1.Pod, f func(name string, end *corev1.ContainerStateTerminated)) {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if end := statuses[i].State.Terminated; end != nil {
				f(statuses[i].Name, end)
			}
		}
	}
}

// HasEnded reports whether nothing of a pod runs any more, and nothing will.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
