package minicluster

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// The API server refuses a status with half a character.
func TestBecauseCutsAtACharacter(t *testing.T) {
	for n := range 4 {
		text := because(strings.Repeat("a", n) + strings.Repeat("€", 400))
		assert.True(t, utf8.ValidString(text), "%d", n)
		assert.LessOrEqual(t, len(text), len(": ")+512)
		assert.True(t, strings.HasSuffix(text, "…"))
	}
	assert.Equal(t, ": one; two", because(" one\ntwo\n"))
}

// A Job that runs keeps the policy of the version that made it: its leader fails it by a code that fails no Job today.
func TestAJobFailsByItsOwnPolicy(t *testing.T) {
	c := makeCluster(1)
	job, pods, view := started(c)
	job.Spec.PodFailurePolicy.Rules[0].OnExitCodes.Values = []int32{exitWorker, exitKilled, exitStopped}
	c.Status.Leader = &v1alpha1.MiniClusterLeader{Pod: pods[0].Name, UID: pods[0].UID}
	pods[0].Status.Phase = corev1.PodFailed
	pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: workerName(c), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 255}},
	}}
	for _, edit := range planner.Plan(c, view()).Edits {
		assert.Equal(t, edit.Before, edit.After, "the Job fails without help")
	}
	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonPodFailurePolicy, Message: "Container failed",
	}}
	plan := planner.Plan(c, view())
	assert.Equal(t, int32(255), *plan.Status.Status.ExitCode)
	assert.Equal(t, v1alpha1.ReasonLeaderFailed, apimeta.FindStatusCondition(plan.Status.Status.Conditions, v1alpha1.ConditionFailed).Reason)
}

// What the Job says of its failure is known even if no pod is left.
func TestAJobThatFailedByItsPolicyWithoutAPod(t *testing.T) {
	c := makeCluster(2)
	job, _, _ := started(c)
	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonPodFailurePolicy, Message: "Container demo failed",
	}}
	plan := planner.Plan(c, buildertest.NewView(noon, job))
	failed := apimeta.FindStatusCondition(plan.Status.Status.Conditions, v1alpha1.ConditionFailed)
	assert.Equal(t, v1alpha1.ReasonJobFailed, failed.Reason)
	assert.Equal(t, "the Job failed: PodFailurePolicy: Container demo failed", failed.Message)
}

// The work can write to the same file. Its text counts only as the last line, and with a code that start.sh replaces.
func TestTheEndOfTheLeader(t *testing.T) {
	for name, tt := range map[string]struct {
		ended   int32
		message string
		code    int32
		text    string
	}{
		"replaced":      {1, "Flux's job failed\nthe leader's exit code is 137; the container ends with 1\n", 137, "Flux's job failed"},
		"by itself":     {1, "Flux's job failed\n", 1, "Flux's job failed"},
		"not the last":  {1, "the leader's exit code is 137; the container ends with 1\nFlux's job failed", 1, "the leader's exit code is 137; the container ends with 1\nFlux's job failed"},
		"made up":       {1, "the leader's exit code is 0; the container ends with 1", 1, "the leader's exit code is 0; the container ends with 1"},
		"another code":  {3, "the leader's exit code is 137; the container ends with 1", 3, "the leader's exit code is 137; the container ends with 1"},
		"of no message": {255, "", 255, ""},
	} {
		code, text := endOfLeader(&corev1.ContainerStateTerminated{ExitCode: tt.ended, Message: tt.message})
		assert.Equal(t, tt.code, code, name)
		assert.Equal(t, tt.text, text, name)
	}
}
