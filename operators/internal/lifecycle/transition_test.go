package lifecycle

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

func TestTransition(t *testing.T) {
	is := func(status metav1.ConditionStatus, reason, text string) []metav1.Condition {
		return []metav1.Condition{{Type: "Open", Status: status, Reason: reason, Message: text}, {Type: "Other", Status: "True", Reason: text}}
	}
	for name, c := range map[string]struct {
		before, after             []metav1.Condition
		to, reason, text, emitted bool
	}{
		"none":              {},
		"added":             {nil, is("True", "Yes", "a"), true, true, true, true},
		"added as False":    {nil, is("False", "No", "a"), false, true, true, false},
		"becomes true":      {is("False", "No", "a"), is("True", "Yes", "b"), true, true, true, true},
		"true, same text":   {is("False", "Yes", "a"), is("True", "Yes", "a"), true, false, false, true},
		"stays":             {is("True", "Yes", "a"), is("True", "Yes", "a"), false, false, false, false},
		"other message":     {is("True", "Yes", "a"), is("True", "Yes", "b"), false, false, true, true},
		"other reason only": {is("True", "Yes", "a"), is("True", "Sure", "a"), false, true, true, false},
		"removed":           {is("True", "Yes", "a"), nil, false, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			change := TransitionOf(c.before, c.after, "Open")
			assert.Equal(t, c.to, change.To(metav1.ConditionTrue))
			assert.Equal(t, c.reason, change.IsReasonNew())
			assert.Equal(t, c.text, change.IsTextNew())
			var want []events.Event
			if c.emitted {
				want = []events.Event{events.Warning(change.After.Reason, change.After.Message)}
			}
			assert.Equal(t, want, change.Events(metav1.ConditionTrue, events.Warning))
		})
	}
}

func TestEventsOfFirst(t *testing.T) {
	for _, n := range []int{0, 1, message.MaxListed, message.MaxListed + 1, 100} {
		all := EventsOfFirst(make([]struct{}, n),
			func(struct{}) events.Event { return events.Warning("Failed", "one") },
			func(n int) events.Event { return events.Warning("Failed", strconv.Itoa(n)) })
		assert.Len(t, all, min(n, message.MaxListed+1))
		if n > message.MaxListed {
			assert.Equal(t, events.Warning("Failed", strconv.Itoa(n-message.MaxListed)), all[message.MaxListed])
		}
	}
}

func TestWithStatus(t *testing.T) {
	recorded := &v1alpha1.DaemonJob{Status: v1alpha1.DaemonJobStatus{State: v1alpha1.StateRunning, Succeeded: 1}}
	for name, c := range map[string]struct {
		status v1alpha1.DaemonJobStatus
		minor  bool
		writes bool
		later  time.Duration
	}{
		"the same":     {recorded.Status, true, false, 0},
		"a count":      {v1alpha1.DaemonJobStatus{State: v1alpha1.StateRunning, Succeeded: 2}, true, true, time.Minute},
		"a transition": {v1alpha1.DaemonJobStatus{State: v1alpha1.StateSucceed}, false, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			change := func() *v1alpha1.DaemonJob { return &v1alpha1.DaemonJob{Status: c.status} }
			plan := WithStatus(builder.Plan[*v1alpha1.DaemonJob]{RequeueAfter: time.Hour}, &recorded.Status, &c.status, change,
				time.Minute, func() bool { return c.minor })
			assert.Equal(t, time.Hour, plan.RequeueAfter)
			assert.Equal(t, c.later, plan.StatusCanWait)
			if !c.writes {
				assert.Nil(t, plan.Status)
				return
			}
			assert.Equal(t, c.status, plan.Status.Status)
		})
	}
}
