package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// A StatefulSet never fails by itself. With AlertAfter, one that doesn't become ready is reported, and the roll-out stays.
func TestAlert(t *testing.T) {
	w := stuckAtBroker(t)
	w.options = rollout.Options{AlertAfter: patience}
	res := w.pass()
	assert.Nil(t, builder.RolloutFailure(res))
	assert.Zero(t, res.Rollout.RollsBackAt)
	assert.Equal(t, patience, res.RequeueAfter, "it counts for each phase")

	w.restart() // the time is not in memory
	w.step(patience)
	res = w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Equal(t, "broker", builder.RolloutFailure(res).Phase)
	assert.Equal(t, "broker", builder.RolloutFailure(res).Key.Name)
	assert.Contains(t, builder.RolloutFailure(res).Message, "not ready after 5m0s: ")
	assert.Equal(t, "RolloutHalted", w.events[len(w.events)-1])
	assert.Zero(t, res.RequeueAfter)
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)
	before := len(w.events)
	w.step(time.Hour)
	w.pass()
	assert.Len(t, w.events, before, "once")
	assert.Equal(t, "v2 v2 v1", w.deployed(), "and nothing else is done")

	w.rollOut("broker")
	assert.Nil(t, builder.RolloutFailure(w.pass()))
	assert.Equal(t, "v2 v2 v2", w.deployed())
}

func TestAlertNamesWhatHasFailedAtOnce(t *testing.T) {
	w := stuckAtBroker(t)
	w.options = rollout.Options{AlertAfter: patience}
	w.fail("broker")
	res := w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Contains(t, builder.RolloutFailure(res).Message, "ProgressDeadlineExceeded")
	w.step(patience)
	assert.Equal(t, builder.RolloutFailure(res), builder.RolloutFailure(w.pass()), "which says more than the time does")
}
