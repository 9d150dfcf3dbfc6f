package soakplan

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Wanted is the exit code of pods that fail because the plan says so.
const Wanted = 42

// LabelOutput is a label of pods whose output is needed. An output is lost if its pod is deleted before it is read, as
// JobFlow's documentation says, so the faults leave these pods alone.
const LabelOutput = "soak-output"

// tries is how often a Job replaces pods that were disturbed: more often than the script disturbs any.
const tries = 50

// pod is a pod that runs a command of the shell. What it is, is in the variables JOB, NODE and FAILURES: its Job's name,
// its node's name, and how often its index in the Job has failed before.
func pod(command string) corev1.PodTemplateSpec {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		// The shell is the first process of its container, and so doesn't hear SIGTERM.
		TerminationGracePeriodSeconds: ptr.To[int64](1),
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", command},
			Env: []corev1.EnvVar{
				field("JOB", "metadata.labels['batch.kubernetes.io/job-name']"),
				field("NODE", "spec.nodeName"),
				field("FAILURES", "metadata.annotations['batch.kubernetes.io/job-index-failure-count']"),
			},
		}},
	}}
}

// replica is a pod of a ReplicaJob. RESTARTS is how often its replica was made again before.
func replica(command string) corev1.PodTemplateSpec {
	template := pod(command)
	template.Spec.RestartPolicy = "" // the replica's own
	template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "RESTARTS", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['api.practice.com/restarts']"},
	}}}
	return template
}

// wantedOnly is the policy by which a wanted failure fails a Job at once, and a disruption doesn't count.
func wantedOnly() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{Wanted},
			},
		},
		{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		},
	}}
}

func succeeds(seconds int) string { return fmt.Sprintf("sleep %d", seconds) }

func fails(seconds int) string { return fmt.Sprintf("sleep %d; exit %d", seconds, Wanted) }

const forever = "sleep 3600"
