package diagnose

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// HasSucceeded reports whether an object has succeeded, so that its children need no check. A flow that was stopped before its first
// node started has not.
func HasSucceeded(o *Object) bool {
	switch {
	case o.pod != nil:
		return o.pod.Status.Phase == corev1.PodSucceeded
	case o.job != nil:
		return o.isTrue("Complete") != nil || o.isTrue("SuccessCriteriaMet") != nil
	default:
		return o.isTrue("Succeeded") != nil && o.isTrue(v1alpha1.ConditionStopped) == nil && !isBehind(o)
	}
}

// HasFailed reports whether an object has failed permanently by its own status.
func HasFailed(o *Object) bool {
	if o.pod != nil {
		return o.pod.Status.Phase == corev1.PodFailed
	}
	return o.isTrue("Failed") != nil || o.isTrue("FailureTarget") != nil || o.text("status", "state") == "Failed"
}

// HasEnded reports whether an object has ended, so that its spec has no further effect. It hasn't if its status is of an older spec.
func (o *Object) HasEnded() bool {
	return !isBehind(o) && (HasSucceeded(o) || HasFailed(o) || o.isOurs() && o.text("status", "completionTime") != "")
}

// IsRetried reports whether the operator has yet to carry out a retry of a JobFlow or DaemonJob that has failed.
func IsRetried(o *Object) bool {
	requested, _, _ := nestedNumber(o, "spec", "retry")
	carriedOut, _, _ := nestedNumber(o, "status", "retry")
	return o.is("JobFlow", "DaemonJob") && HasFailed(o) && o.text("status", "completionTime") != "" && requested > carriedOut &&
		!o.flag("spec", "terminate")
}

// StateOf returns the state in an object's own status, in a few words.
func StateOf(o *Object) string {
	switch {
	case o.pod != nil:
		return podState(o.pod)
	case o.job != nil:
		return jobState(o)
	case o.is("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"):
		return fmt.Sprintf("%d/%d ready", o.number("status", "readyReplicas"), replicasOf(o))
	case o.is("DaemonSet"):
		return fmt.Sprintf("%d/%d ready", o.number("status", "numberReady"), o.number("status", "desiredNumberScheduled"))
	}
	state := o.text("status", "state")
	if state == "" {
		state = o.text("status", "phase")
	}
	if progress := o.text("status", "progress"); progress != "" {
		return state + " " + progress
	}
	if ready := o.condition("Ready"); state == "" && ready != nil {
		return "Ready=" + string(ready.Status)
	}
	return state
}

// replicasOf returns the desired replicas of a Deployment, ReplicaSet, StatefulSet or ReplicationController.
func replicasOf(o *Object) int64 {
	if _, set, _ := nestedNumber(o, "spec", "replicas"); set {
		return o.number("spec", "replicas")
	}
	return 1
}

// isTerminating reports whether a pod is being deleted, and its containers haven't ended.
func isTerminating(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func podState(pod *corev1.Pod) string {
	if isTerminating(pod) {
		return "Terminating"
	}
	if pod.Status.Phase == corev1.PodSucceeded {
		return string(corev1.PodSucceeded) // whatever the exit code of a sidecar that the kubelet stopped
	}
	for _, c := range containers(pod) {
		switch {
		case c.status.State.Waiting != nil && c.status.State.Waiting.Reason != "" &&
			c.status.State.Waiting.Reason != "ContainerCreating" && c.status.State.Waiting.Reason != "PodInitializing":
			return string(pod.Status.Phase) + ", " + c.status.State.Waiting.Reason
		case c.status.State.Terminated != nil && c.status.State.Terminated.ExitCode != 0:
			return fmt.Sprintf("%s, exit code %d", pod.Status.Phase, c.status.State.Terminated.ExitCode)
		}
	}
	if pod.Status.Reason != "" {
		return string(pod.Status.Phase) + ", " + pod.Status.Reason
	}
	if pod.Status.Phase == corev1.PodPending && pod.Spec.NodeName == "" {
		return "Pending, not scheduled"
	}
	return string(pod.Status.Phase)
}

func jobState(o *Object) string {
	s := o.job.Status
	switch {
	case HasSucceeded(o):
		return "Complete"
	case HasFailed(o):
		return "Failed"
	case o.job.Spec.Suspend != nil && *o.job.Spec.Suspend:
		return "Suspended"
	}
	text := fmt.Sprintf("%d active", s.Active)
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d failed", s.Failed)
	}
	return text
}

// IsUp reports whether an object runs without a problem: a pod runs, a Deployment has its replicas, a flow is active.
func IsUp(o *Object) bool {
	switch {
	case o.pod != nil:
		return o.pod.Status.Phase == corev1.PodRunning && !isTerminating(o.pod)
	case o.job != nil:
		return o.job.Status.Active > 0
	case o.is("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"):
		return o.number("status", "readyReplicas") == o.number("status", "replicas")
	case o.text("status", "state") == string(v1alpha1.StateRunning):
		return true
	default:
		return o.isTrue("Ready") != nil || o.text("status", "phase") == "Bound"
	}
}

// NodeOf returns the node of a pod, empty if it isn't scheduled.
func NodeOf(o *Object) string { return o.text("spec", "nodeName") }
