package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The values of an earlier version are read under their former names, and apply even beside the new ones: the earlier
// version wrote last.
func TestStatusesOfAnEarlierVersion(t *testing.T) {
	var job v1alpha1.FluxJob
	require.NoError(t, json.Unmarshal([]byte(`{"status": {"state": "Running", "runs": 3, "attempts": 2}}`), &job))
	assert.Equal(t, int32(3), job.Status.Attempts)
	assert.Equal(t, v1alpha1.FluxJobRunning, job.Status.State)

	var setup v1alpha1.FluxSetup
	require.NoError(t, json.Unmarshal([]byte(`{"status": {"line": [{"namespace": "a", "name": "b", "reason": "InLine"}],
		"usage": [{"name": "pods", "quota": "4", "used": "1", "free": "3", "largest": "4"}],
		"reservations": [{"namespace": "a", "name": "c", "uid": "c-uid", "run": 2, "generation": 1, "size": 1, "pods": 1}]}}`), &setup))
	assert.Equal(t, int32(2), setup.Status.Reservations[0].Attempt)
	assert.Equal(t, "b", setup.Status.Queue[0].Name)
	assert.Equal(t, int64(4), setup.Status.Usage[0].Maximum.Value())

	var flow v1alpha1.JobFlow
	require.NoError(t, json.Unmarshal([]byte(`{"status": {"finished": "0", "marks": "AAAAAAAAAAA=", "items": [{"name": "a", "of": "0123", "total": 3}]}}`), &flow))
	assert.Equal(t, "AAAAAAAAAAA=", flow.Status.NodeDigests)
	assert.Equal(t, "0123", flow.Status.Items[0].Digest)
}

// The patch that an operator writes has the new names, because the status before has only the former ones.
func TestAStatusOfAnEarlierVersionIsEncodedAsItIsStored(t *testing.T) {
	for former, status := range map[string]any{
		`{"runs":3}`: &v1alpha1.FluxJobStatus{}, `{"marks":"AAAA"}`: &v1alpha1.JobFlowStatus{},
		`{"pendingWorkloads":0,"admittedWorkloads":0,"line":[{"namespace":"a","name":"b","reason":"InLine"}]}`: &v1alpha1.FluxSetupStatus{},
	} {
		require.NoError(t, json.Unmarshal([]byte(former), status))
		text, err := json.Marshal(status)
		require.NoError(t, err)
		assert.JSONEq(t, former, string(text))
	}
}

func TestStatusesOfThisVersion(t *testing.T) {
	var job v1alpha1.FluxJob
	require.NoError(t, json.Unmarshal([]byte(`{"status": {"attempts": 2}}`), &job))
	assert.Equal(t, v1alpha1.FluxJobStatus{Attempts: 2}, job.Status)
	require.Error(t, json.Unmarshal([]byte(`{"status": {"attempts": "two"}}`), &job))
	require.Error(t, json.Unmarshal([]byte(`{"status": {"reservations": 2}}`), &v1alpha1.FluxSetup{}))
	require.Error(t, json.Unmarshal([]byte(`{"status": {"items": 2}}`), &v1alpha1.JobFlow{}))
}
