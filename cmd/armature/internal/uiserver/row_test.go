package uiserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestProgressOfAReplicaJobCountsFailedReplicas(t *testing.T) {
	r := rowOf(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "api.practice.com/v1alpha1", "kind": "ReplicaJob", "status": map[string]any{"replicaStatuses": map[string]any{
			"worker": map[string]any{"active": int64(1), "succeeded": int64(2), "failed": int64(3)},
		}},
	}})
	assert.Equal(t, []int64{5, 6, 3}, []int64{r.Done, r.Total, r.Failed})
}

func TestATerminatingPodDoesNotRun(t *testing.T) {
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "deletionTimestamp": "2026-01-02T03:04:05Z"},
		"status": map[string]any{"phase": "Running"},
	}}
	v := podViewOf(pod)
	assert.Equal(t, "Terminating", v.State)
	assert.Equal(t, toneWait, v.Tone)
	assert.NoError(t, unstructured.SetNestedField(pod.Object, "Succeeded", "status", "phase"))
	assert.Equal(t, "Succeeded", podViewOf(pod).State, "it has ended, and is only kept by a finalizer")
}
