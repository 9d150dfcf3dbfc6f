package builder

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
)

var contestedResult = Result{Pending: statusOfContests([]contest.Contest{
	{Child: keyOf("web"), Fields: []string{"spec.replicas"}, By: []string{"hpa (Update of scale)"}, Times: 3},
})}

// statuses renders conditions: type, status, reason.
func statuses(conditions []metav1.Condition) map[string]string {
	told := map[string]string{}
	for _, c := range conditions {
		told[c.Type] = string(c.Status) + " " + c.Reason
	}
	return told
}

func TestContestedCondition(t *testing.T) {
	var conditions []metav1.Condition
	contestedResult.SetConditions(&conditions, 2, nil, time.Unix(1000, 0))
	assert.Equal(t, map[string]string{
		"Ready": "False Contested", "Progressing": "False Contested", "Stalled": "True Contested", "Contested": "True Contested",
	}, statuses(conditions))
	c := meta.FindStatusCondition(conditions, events.ConditionContested)
	assert.Equal(t, contestedResult.contested()[0].String(), c.Message)
	assert.EqualValues(t, 2, c.ObservedGeneration)

	contestedResult.SetConditions(&conditions, 2, of(full), time.Unix(2000, 0))
	assert.Equal(t, "False ApplyFailed", statuses(conditions)["Ready"], "a failure is told first")
	assert.Equal(t, "True Contested", statuses(conditions)["Contested"])
	assert.Equal(t, time.Unix(1000, 0), meta.FindStatusCondition(conditions, events.ConditionContested).LastTransitionTime.Time)

	Result{}.SetConditions(&conditions, 2, nil, time.Unix(3000, 0))
	assert.Equal(t, map[string]string{"Ready": "True Ready", "Progressing": "False Ready", "Stalled": "False Ready"}, statuses(conditions))
}

// Plans that set their own conditions say nothing of contests.
func TestContestsBesideAPlansOwnConditions(t *testing.T) {
	planned := func(owner *thing) *thing {
		after := withOwnConditions(owner)
		meta.SetStatusCondition(&after.conditions, metav1.Condition{Type: events.ConditionReady, Status: metav1.ConditionTrue, Reason: "Fine"})
		return after
	}
	pass := func(owner *thing, res Result, err error, at int64) *thing {
		now := time.Unix(at, 0)
		after, statusErr := statusAfter(owner, Plan[*thing]{Status: planned(owner)}, res, err, now)
		require.NoError(t, statusErr)
		return after
	}
	owner := &thing{}
	after := pass(owner, Result{}, nil, 1000)
	assert.Equal(t, map[string]string{"Ready": "True Fine"}, statuses(after.conditions))

	contested := pass(after, contestedResult, nil, 2000)
	assert.Equal(t, map[string]string{"Ready": "False Contested", "Stalled": "True Contested", "Contested": "True Contested"}, statuses(contested.conditions))
	assert.Equal(t, map[string]string{"Ready": "True Fine"}, statuses(after.conditions), "its argument stays as it is")
	settled := pass(contested, contestedResult, nil, 3000)
	assert.ElementsMatch(t, contested.conditions, settled.conditions, "nothing to write")
	assert.Equal(t, settled.conditions, pass(settled, contestedResult, nil, 4000).conditions)
	assert.Equal(t, statuses(settled.conditions), statuses(pass(settled, contestedResult, of(conflict), 4000).conditions))

	failed := pass(settled, contestedResult, of(full), 5000)
	assert.Equal(t, "False "+events.ReasonApplyFailed, statuses(failed.conditions)["Ready"])
	assert.Equal(t, "True Contested", statuses(failed.conditions)["Contested"])
	assert.Equal(t, map[string]string{"Ready": "True Fine"}, statuses(pass(settled, Result{}, nil, 6000).conditions))

	plain := deployment("web")
	same, err := statusAfter(plain, Plan[*appsv1.Deployment]{}, contestedResult, nil, time.Unix(1000, 0))
	require.NoError(t, err)
	assert.Same(t, plain, same, "no conditions to report it in")
}

func TestContestsAreShort(t *testing.T) {
	long := contest.Contest{Child: keyOf("web"), Times: 3}
	for i := range 100 {
		long.Fields, long.By = append(long.Fields, fmt.Sprintf("f%d", i)), append(long.By, fmt.Sprintf("m%d", i))
	}
	assert.Less(t, len(statusOfContests([]contest.Contest{long})[0].String()), text.MaxSummary/4)
}
