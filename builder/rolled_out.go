package builder

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// Who may create ControllerRevisions in a namespace can make one up that says of itself that it was completed, under any field
// manager. So the name of the completed revision is kept in the owner's status.

// completedRevision returns the name of the completed revision on record: the one that the plan gives, else that of the owner's condition.
// Nil: there is no record, because the owner has no conditions.
func (p *pass) completedRevision() *string {
	if p.rollout.CompletedRevision != nil {
		return p.rollout.CompletedRevision
	}
	owner, ok := p.owner.(Conditioned)
	if !ok {
		return nil
	}
	name := rolledOutIn(*owner.Conditions())
	return &name
}

func rolledOutIn(conditions []metav1.Condition) string {
	c := meta.FindStatusCondition(conditions, events.ConditionRolledOut)
	if c == nil || c.Status != metav1.ConditionTrue {
		return ""
	}
	return c.Message
}

// setRolledOut puts the completed revision on record. A pass that doesn't know it, because it failed before, changes nothing.
func (r Result) setRolledOut(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if r.Rollout == nil || r.Rollout.From == "" {
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionRolledOut, Status: metav1.ConditionTrue, Reason: events.ReasonRolloutCompleted, Message: r.Rollout.From,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// withRolledOut returns an owner whose conditions have the completed revision on record, also if the plan sets all conditions itself.
// It changes neither argument.
func withRolledOut[T client.Object](owner, after T, res Result, now time.Time) T {
	planned, ok := any(after).(Conditioned)
	if !ok {
		return after
	}
	was := meta.FindStatusCondition(*any(owner).(Conditioned).Conditions(), events.ConditionRolledOut)
	isKnown := res.Rollout != nil && res.Rollout.From != ""
	if was == nil && !isKnown {
		return after
	}
	set := meta.FindStatusCondition(*planned.Conditions(), events.ConditionRolledOut)
	if set != nil && (!isKnown || set.Message == res.Rollout.From && set.Status == metav1.ConditionTrue) {
		return after
	}
	after = withOwnConditions(after)
	conditions := any(after).(Conditioned).Conditions()
	if was != nil && set == nil {
		*conditions = append(*conditions, *was)
	}
	res.setRolledOut(conditions, owner.GetGeneration(), now)
	return after
}
