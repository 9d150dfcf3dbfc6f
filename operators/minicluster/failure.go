package minicluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// failure is why a start of the cluster came to nothing.
type failure struct {
	reason, message string
	// code is the exit code of the leader, nil if it has none.
	code *int32
	// final is true if another start would be of no use.
	final bool
}

// failureOf says why a Job failed, from the leader's pod. What happened to workers means nothing, unless the exit code of one failed the
// Job.
func failureOf(c *v1alpha1.MiniCluster, o *observed) failure {
	end := outcome.Of(o.job)
	if end.Reason == batchv1.JobReasonDeadlineExceeded {
		return deadlineExceeded(c)
	}
	if why := o.job.Annotations[annotationFailure]; why != "" && end.Reason == batchv1.JobReasonBackoffLimitExceeded {
		return failure{reason: v1alpha1.ReasonWorkerFailed, message: why, final: true}
	}
	byItself := func(pod *corev1.Pod) bool { return o.endedByItself(c, pod) }
	if end.Reason == batchv1.JobReasonPodFailurePolicy && !slices.ContainsFunc(o.leaders, byItself) {
		f := failure{reason: v1alpha1.ReasonJobFailed, message: "the Job failed: " + end.Why()}
		if slices.ContainsFunc(o.pods, byItself) {
			f.reason = v1alpha1.ReasonWorkerFailed
		}
		return f
	}
	pod := o.failedLeader(anyPod)
	if known := c.Status.Leader; pod != nil && known != nil && pod.UID != known.UID && !o.endedByItself(c, pod) {
		// The leader had been lost before this one, which came in its place, was stopped with the rest.
		if pod = o.failedLeader(func(pod *corev1.Pod) bool { return pod.UID == known.UID }); pod == nil {
			return lost(c)
		}
	}
	if pod == nil {
		if o.leader() == nil || outcome.Condition(o.job, batchv1.JobFailed) == nil || end.Reason == batchv1.JobReasonBackoffLimitExceeded {
			return lost(c)
		}
		return failure{reason: v1alpha1.ReasonJobFailed, message: strings.TrimSuffix("the Job failed, and the leader didn't: "+end.Why(), ": ")}
	}
	f := failure{reason: v1alpha1.ReasonLeaderFailed}
	if outcome.WasDisrupted(pod) {
		f.reason = v1alpha1.ReasonLeaderLost
	}
	state := outcome.Terminated(pod, workerName(c))
	if state == nil {
		f.message = fmt.Sprintf("the leader's pod %s failed before its container ended: %s", pod.Name,
			cmp.Or(pod.Status.Message, pod.Status.Reason, "an init container failed"))
		return f
	}
	code, text := endOfLeader(state)
	f.code = &code
	if f.reason == v1alpha1.ReasonLeaderLost {
		f.message = fmt.Sprintf("the leader's pod %s was stopped from outside, with exit code %d%s", pod.Name, code, because(text))
	} else {
		f.message = fmt.Sprintf("the leader's pod %s ended with exit code %d (%s)%s",
			pod.Name, code, cmp.Or(state.Reason, "Error"), because(text))
	}
	return f
}

// endOfLeader returns the exit code of the leader, and what its container says of it. Where start.sh has replaced the code, so that the
// container's fails the Job, the last line of the message has it.
func endOfLeader(state *corev1.ContainerStateTerminated) (code int32, text string) {
	text = strings.TrimSpace(state.Message)
	begin := strings.LastIndexByte(text, '\n') + 1
	if _, err := fmt.Sscanf(text[begin:], "the leader's exit code is %d;", &code); err == nil &&
		state.ExitCode == exitReplaced && slices.Contains(ambiguousExits, code) {
		return code, strings.TrimSpace(text[:begin])
	}
	return state.ExitCode, text
}

// lost is the failure of a leader that is gone without a trace.
func lost(c *v1alpha1.MiniCluster) failure {
	name := "of rank 0"
	if c.Status.Leader != nil {
		name = c.Status.Leader.Pod
	}
	return failure{reason: v1alpha1.ReasonLeaderLost, message: "the leader's pod " + name + " was deleted"}
}

func deadlineExceeded(c *v1alpha1.MiniCluster) failure {
	return failure{
		reason:  v1alpha1.ReasonDeadlineExceeded,
		message: fmt.Sprintf("it didn't end within %d s of its admission", ptr.Deref(c.Spec.DeadlineSeconds, 0)),
		final:   true,
	}
}

// maxDetail bounds what a message contains of a container's own message, in bytes.
const maxDetail = 512

// because adds what a container says of its end, in one line.
func because(detail string) string {
	detail = strings.ReplaceAll(strings.TrimSpace(detail), "\n", "; ")
	if detail == "" {
		return ""
	}
	return ": " + text.Shorten(detail, maxDetail)
}
