package world

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// failJobMessage returns the message with which podFailurePolicy fails the Job; empty if it doesn't.
func (j *jobSync) failJobMessage() string {
	for _, pod := range j.pods {
		if !j.isFailed(pod) {
			continue
		}
		if rule, at, message := j.failureRule(pod); rule != nil && rule.Action == batchv1.PodFailurePolicyActionFailJob {
			return fmt.Sprintf("%s matching FailJob rule at index %d", message, at)
		}
	}
	return ""
}

// countsFailure reports whether a failed pod counts against backoffLimit.
func (j *jobSync) countsFailure(pod *corev1.Pod) bool {
	rule, _, _ := j.failureRule(pod)
	return rule == nil || rule.Action != batchv1.PodFailurePolicyActionIgnore
}

// failureRule returns the rule of podFailurePolicy that a failed pod matches, its index, and what matched; nil if none does.
func (j *jobSync) failureRule(pod *corev1.Pod) (*batchv1.PodFailurePolicyRule, int, string) {
	policy := j.job.Spec.PodFailurePolicy
	if policy == nil {
		return nil, 0, ""
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if rule.OnExitCodes != nil {
			if c := matchingContainer(rule.OnExitCodes, pod); c != nil {
				return rule, i, fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v",
					c.Name, pod.Namespace, pod.Name, c.State.Terminated.ExitCode)
			}
			continue
		}
		for _, pattern := range rule.OnPodConditions {
			for _, c := range pod.Status.Conditions {
				if c.Type == pattern.Type && c.Status == pattern.Status {
					return rule, i, fmt.Sprintf("Pod %s/%s has condition %v", pod.Namespace, pod.Name, pattern.Type)
				}
			}
		}
	}
	return nil, 0, ""
}

// matchingContainer returns the container whose exit code a requirement matches.
func matchingContainer(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != c.Name {
				continue
			}
			if slices.Contains(r.Values, c.State.Terminated.ExitCode) == (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return c
			}
		}
	}
	return nil
}

// successMessage returns the message with which successPolicy ends the Job; empty if it doesn't.
func (j *jobSync) successMessage() string {
	if j.job.Spec.SuccessPolicy == nil || !j.isIndexed() {
		return ""
	}
	for i, rule := range j.job.Spec.SuccessPolicy.Rules {
		succeeded, of := len(j.indexes), -1
		if rule.SucceededIndexes != nil {
			wanted := parseIndexes(*rule.SucceededIndexes, j.completions())
			succeeded, of = 0, len(wanted)
			for index := range wanted {
				if j.indexes[index] {
					succeeded++
				}
			}
		}
		if succeeded > 0 && (succeeded == of || rule.SucceededCount != nil && succeeded >= int(*rule.SucceededCount)) {
			return fmt.Sprintf("Matched rules at index %d", i)
		}
	}
	return ""
}

// pastBackoffOnFailure reports whether the containers of running pods have restarted too often. They do with restartPolicy OnFailure.
func (j *jobSync) pastBackoffOnFailure() bool {
	if j.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	var restarts int32
	for _, pod := range j.pods {
		if isTerminal(pod) {
			continue
		}
		for _, c := range append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...) {
			restarts += c.RestartCount
		}
	}
	limit := ptr.Deref(j.job.Spec.BackoffLimit, 6)
	return restarts > 0 && restarts >= limit
}
