package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A StatefulSet never fails by itself. With Alert one that doesn't become ready is told of, and the roll-out stays.
func TestAlert(t *testing.T) {
	w := stuckAtBroker(t)
	w.policy = Alert(patience)
	res := w.pass()
	assert.Nil(t, res.Halted)
	assert.Zero(t, res.Rollout.RollsBackAt)
	assert.Equal(t, patience, res.RequeueAfter, "counted for each phase anew")

	w.restart(w.e.client) // the time is not in memory
	w.now = w.now.Add(patience)
	res = w.pass()
	require.NotNil(t, res.Halted)
	assert.Equal(t, "broker", res.Halted.Phase)
	assert.Equal(t, "broker", res.Halted.Key.Name)
	assert.Contains(t, res.Halted.Why, "not ready after 5m0s: ")
	assert.Equal(t, "RolloutHalted", w.told[len(w.told)-1])
	assert.Zero(t, res.RequeueAfter)
	var conditions []Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, ReasonRolloutHalted, conditions[0].Reason)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)
	told := len(w.told)
	w.now = w.now.Add(time.Hour)
	w.pass()
	assert.Len(t, w.told, told, "once")
	assert.Equal(t, "v2 v2 v1", w.running(), "and nothing else is done")

	w.settle("broker")
	assert.Nil(t, w.pass().Halted)
	assert.Equal(t, "v2 v2 v2", w.running())
}

func TestAlertNamesWhatHasFailedAtOnce(t *testing.T) {
	w := stuckAtBroker(t)
	w.policy = Alert(patience)
	w.fail("broker")
	res := w.pass()
	require.NotNil(t, res.Halted)
	assert.Contains(t, res.Halted.Why, "ProgressDeadlineExceeded")
	w.now = w.now.Add(patience)
	assert.Equal(t, res.Halted, w.pass().Halted, "which says more than the time does")
}
