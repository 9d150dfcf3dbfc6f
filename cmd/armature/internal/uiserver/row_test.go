package uiserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A feed holds tens of thousands of rows, of objects that their users have filled with anything.
func TestARowIsSmall(t *testing.T) {
	long, labels := strings.Repeat("x", 1000), map[string]any{"a/first": "1"}
	for i := range 1000 {
		labels[fmt.Sprintf("l-%05d", i)] = "value"
	}
	var types []any
	for i := range 1000 {
		types = append(types, map[string]any{"name": fmt.Sprint(i), "state": long, "ready": int64(1), "desired": int64(1)})
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Other", "metadata": map[string]any{"name": "o", "labels": labels},
		"spec": map[string]any{"queue": long},
		"status": map[string]any{
			"state": long, "nodeTypes": types, "conditions": []any{map[string]any{"type": "Ready", "reason": long, "message": long}},
		},
	}}
	r := rowOf(u)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Less(t, len(text), 4<<10)
	assert.Equal(t, "1", r.Labels["a/first"])
	assert.Equal(t, int64(1000), r.Total)

	drawer, err := (&detail{}).draw(whole(u))
	require.NoError(t, err)
	assert.Len(t, decoded[objectView](t, string(drawer.object)).Row.Labels, len(labels), "the drawer has all labels")
}
