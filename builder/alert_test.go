package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// A StatefulSet never fails by itself. With Alert one that doesn't become ready is told of, and the roll-out stays.
func TestAlert(t *testing.T) {
	w := stuckAtBroker(t)
	w.options = rollout.Options{AlertAfter: patience}
	res := w.pass()
	assert.Nil(t, res.rolloutFailure())
	assert.Zero(t, res.Rollout.RollsBackAt)
	assert.Equal(t, patience, res.RequeueAfter, "counted for each phase anew")

	w.restart(w.e.client) // the time is not in memory
	w.now = w.now.Add(patience)
	res = w.pass()
	require.NotNil(t, res.rolloutFailure())
	assert.Equal(t, "broker", res.rolloutFailure().Phase)
	assert.Equal(t, "broker", res.rolloutFailure().Key.Name)
	assert.Contains(t, res.rolloutFailure().Message, "not ready after 5m0s: ")
	assert.Equal(t, "RolloutHalted", w.told[len(w.told)-1])
	assert.Zero(t, res.RequeueAfter)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)
	told := len(w.told)
	w.now = w.now.Add(time.Hour)
	w.pass()
	assert.Len(t, w.told, told, "once")
	assert.Equal(t, "v2 v2 v1", w.running(), "and nothing else is done")

	w.settle("broker")
	assert.Nil(t, w.pass().rolloutFailure())
	assert.Equal(t, "v2 v2 v2", w.running())
}

func TestAlertNamesWhatHasFailedAtOnce(t *testing.T) {
	w := stuckAtBroker(t)
	w.options = rollout.Options{AlertAfter: patience}
	w.fail("broker")
	res := w.pass()
	require.NotNil(t, res.rolloutFailure())
	assert.Contains(t, res.rolloutFailure().Message, "ProgressDeadlineExceeded")
	w.now = w.now.Add(patience)
	assert.Equal(t, res.rolloutFailure(), w.pass().rolloutFailure(), "which says more than the time does")
}
