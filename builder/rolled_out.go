package builder

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// Anyone who can create ControllerRevisions in a namespace can fabricate one that is marked as completed, under any field manager. So
// the builder keeps the name of the completed revision in the owner's status.

// completedRevision returns the recorded name of the completed revision: that of the plan's options, otherwise that of the owner's
// condition. It is nil if the owner has no conditions, and so no record.
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

// setRolledOut records the completed revision. A pass that failed before it knew the revision changes nothing.
func (r Result) setRolledOut(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if r.Rollout == nil || r.Rollout.From == "" {
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionRolledOut, Status: metav1.ConditionTrue, Reason: events.ReasonRolloutCompleted, Message: r.Rollout.From,
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// withRolledOut returns an owner whose conditions record the completed revision, also if the plan sets all conditions itself. It
// changes neither argument.
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
