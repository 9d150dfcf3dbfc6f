package outcome

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOf(t *testing.T) {
	start := metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	end := metav1.NewTime(start.Add(time.Minute))
	later := metav1.NewTime(start.Add(2 * time.Minute))
	condition := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: status, Reason: "Why", Message: "because", LastTransitionTime: later}
	}
	tests := map[string]struct {
		status batchv1.JobStatus
		want   Outcome
	}{
		"new":     {batchv1.JobStatus{}, Outcome{}},
		"started": {batchv1.JobStatus{StartTime: &start, Active: 1}, Outcome{}},
		"suspended": {
			batchv1.JobStatus{Conditions: []batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionTrue)}},
			Outcome{},
		},
		"complete": {
			batchv1.JobStatus{StartTime: &start, CompletionTime: &end, Conditions: []batchv1.JobCondition{
				condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), condition(batchv1.JobComplete, corev1.ConditionTrue)}},
			Outcome{Phase: Succeeded, Ended: &end},
		},
		"failed": {
			batchv1.JobStatus{StartTime: &start, Conditions: []batchv1.JobCondition{condition(batchv1.JobFailed, corev1.ConditionTrue)}},
			Outcome{Phase: Failed, Reason: "Why", Message: "because", Ended: &later},
		},
		"about to succeed": {
			batchv1.JobStatus{StartTime: &start, Conditions: []batchv1.JobCondition{condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue)}},
			Outcome{},
		},
		"about to fail": {
			batchv1.JobStatus{StartTime: &start, Conditions: []batchv1.JobCondition{condition(batchv1.JobFailureTarget, corev1.ConditionTrue)}},
			Outcome{},
		},
		"not failed": {
			batchv1.JobStatus{StartTime: &start, Conditions: []batchv1.JobCondition{condition(batchv1.JobFailed, corev1.ConditionFalse)}},
			Outcome{},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, Of(&batchv1.Job{Status: tt.status}))
		})
	}
}

func TestWhy(t *testing.T) {
	assert.Equal(t, "R: m", Outcome{Reason: "R", Message: "m"}.Why())
	assert.Equal(t, "R", Outcome{Reason: "R"}.Why())
	assert.Equal(t, "m", Outcome{Message: "m"}.Why())
	assert.Empty(t, Outcome{}.Why())
}
