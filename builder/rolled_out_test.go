package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// The operator writes the record with each of the ways to set conditions, and keeps it where a plan sets them anew.
func TestTheCompletedRevisionIsOnRecord(t *testing.T) {
	now := time.Unix(1000, 0)
	res := Result{Rollout: &rollout.Status{State: rollout.Completed, From: "web-1"}}
	bare := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}}
	for _, report := range []bool{true, false} {
		after, err := statusAfter(bare, Plan[*v1alpha1.JobFlow]{Report: report}, res, nil, now)
		require.NoError(t, err)
		require.Equal(t, "web-1", status.NameIn(after.Status.Conditions, events.ConditionRolledOut))
		assert.Empty(t, bare.Status)

		after.Generation = 0
		same, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report}, res, nil, now.Add(time.Hour))
		require.NoError(t, err)
		assert.Equal(t, after.Status, same.Status, "no write")
		kept, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report, Status: bare}, Result{}, ErrNotOwned, now)
		require.NoError(t, err)
		if !report {
			assert.Equal(t, "web-1", status.NameIn(kept.Status.Conditions, events.ConditionRolledOut), "by a pass that fails before it knows")
		}
		next, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report}, Result{Rollout: &rollout.Status{From: "web-2"}}, nil, now)
		require.NoError(t, err)
		assert.Equal(t, "web-2", status.NameIn(next.Status.Conditions, events.ConditionRolledOut))
	}
}
