package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestConditionsOfADaemonJobAreThePlaceInTheStatus(t *testing.T) {
	var job v1alpha1.DaemonJob
	*job.Conditions() = []metav1.Condition{{Type: "Ready"}}
	assert.Equal(t, "Ready", job.Status.Conditions[0].Type)
}

func TestWhatIsEmptyOfADaemonJobIsNotSent(t *testing.T) {
	job := v1alpha1.DaemonJob{Spec: v1alpha1.DaemonJobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}},
	}}}
	text, err := json.Marshal(job)
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec": {"template": {"metadata": {}, "spec": {"containers": [{"name": "a", "resources": {}}]}}}}`, string(text))
}

func TestCountsOfADaemonJobAreShownEvenIfNone(t *testing.T) {
	text, err := json.Marshal(v1alpha1.DaemonJobStatus{State: v1alpha1.StatePending})
	require.NoError(t, err)
	assert.JSONEq(t, `{"state": "Pending", "desired": 0, "active": 0, "suspended": 0, "succeeded": 0, "failed": 0, "waiting": 0, "skipped": 0}`, string(text))
}
