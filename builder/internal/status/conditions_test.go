package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

var then, now = time.Unix(1000, 0), time.Unix(2000, 0)

func TestTheSameOutcomeSetsNothing(t *testing.T) {
	var conditions []metav1.Condition
	o := Outcome{Progressing: true, Reason: events.ReasonWaiting, Message: "m"}
	o.Set(&conditions, 3, then)
	assert.Len(t, conditions, 3)
	before := append([]metav1.Condition{}, conditions...)
	o.Set(&conditions, 3, now)
	assert.Equal(t, before, conditions)
	o.Message = "n"
	o.Set(&conditions, 4, now)
	assert.Equal(t, "n", conditions[0].Message)
	assert.EqualValues(t, 4, conditions[0].ObservedGeneration)
	assert.True(t, conditions[0].LastTransitionTime.Time.Equal(then), "its status is the same")
}

func TestAReportReplacesThePlansConditionAndGoes(t *testing.T) {
	planned := func() []metav1.Condition {
		return []metav1.Condition{{Type: events.ConditionReady, Status: metav1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.NewTime(then)}}
	}
	failure := Failure{Reason: events.ReasonApplyFailed, Message: "m", Terminal: true}
	conditions := planned()
	failure.Report(&conditions, nil, 1, then)
	assert.NotNil(t, meta.FindStatusCondition(conditions, events.ConditionStalled))
	before := conditions

	conditions = planned() // the plan says so in each pass
	failure.Terminal = false
	failure.Report(&conditions, before, 1, now)
	ready := meta.FindStatusCondition(conditions, events.ConditionReady)
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.True(t, ready.LastTransitionTime.Time.Equal(then), "since it was first reported")
	assert.Nil(t, meta.FindStatusCondition(conditions, events.ConditionStalled))

	RemoveReport(&conditions)
	assert.Empty(t, conditions)
	conditions = planned()
	RemoveReport(&conditions)
	assert.Len(t, conditions, 1, "the plan's own stay")

	failure.Report(&conditions, nil, 1, now)
	RemoveUnplanned(&conditions)
	assert.Len(t, conditions, 1, "what is wrong with a child stays")
	failure.Reason = events.ReasonQuarantined
	failure.Report(&conditions, nil, 1, now)
	RemoveUnplanned(&conditions)
	assert.Empty(t, conditions)
}
