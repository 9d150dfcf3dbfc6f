package builder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/contest"
	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/builder/internal/text"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// statusOfContests converts contests to the form that [Result] has.
func statusOfContests(all []contest.Contest) []ChildStatus {
	var contested []ChildStatus
	for _, c := range all {
		contested = append(contested, ChildStatus{Key: c.Child, Reason: events.ReasonContested, Message: c.Message()})
	}
	return contested
}

// contestMessage names the contested children.
func (r Result) contestMessage() string { return text.List("", r.contested(), ChildStatus.String) }

// setContested sets or removes the condition Contested.
func (r Result) setContested(conditions *[]metav1.Condition, generation int64, now time.Time) {
	if len(r.contested()) == 0 {
		meta.RemoveStatusCondition(conditions, events.ConditionContested)
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: events.ConditionContested, Status: metav1.ConditionTrue, Reason: events.ReasonContested, Message: r.contestMessage(),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// emitContests emits one event about contests that begin, and one about contests that end.
func (e *Engine) emitContests(owner client.Object, begun, ended []ChildStatus) {
	if len(begun) > 0 {
		e.emit(owner, events.Event{
			Type: corev1.EventTypeWarning, Reason: events.ReasonContested, Action: events.ActionApply,
			Note: text.List("", begun, ChildStatus.String),
		})
	}
	if len(ended) > 0 {
		e.emit(owner, events.Event{
			Type: corev1.EventTypeNormal, Reason: events.ReasonSettled, Action: events.ActionApply,
			Note: text.List("no longer changed by others: ", ended, keyOfStatus),
		})
	}
}

// withContests returns an owner whose conditions, which its plan sets, also report contests. It changes neither argument.
func withContests[T client.Object](owner, after T, res Result, err error, now time.Time) T {
	conditioned, ok := any(after).(Conditioned)
	if !ok || len(res.contested()) == 0 && meta.FindStatusCondition(*conditioned.Conditions(), events.ConditionContested) == nil {
		return after
	}
	after = withOwnConditions(after)
	conditions := any(after).(Conditioned).Conditions()
	res.setContested(conditions, owner.GetGeneration(), now)
	if len(res.contested()) == 0 || err != nil && !isConflict(err) {
		return after
	}
	before := *any(owner).(Conditioned).Conditions()
	for _, c := range []metav1.Condition{
		{Type: events.ConditionReady, Status: metav1.ConditionFalse}, {Type: events.ConditionStalled, Status: metav1.ConditionTrue},
	} {
		c.Reason, c.Message, c.ObservedGeneration = events.ReasonContested, res.contestMessage(), owner.GetGeneration()
		c.LastTransitionTime = metav1.NewTime(now)
		status.Override(conditions, before, c)
	}
	return after
}

// noteContests adds the owner's contests to the result. After an error it treats every child as desired, because the pass may not know
// all desired children.
func (p *pass) noteContests(err error) {
	if p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return
	}
	isDesired := func(key store.Key) bool { return err != nil || p.desiredKeys.Has(key) }
	report := p.engine.memory.Contests.Report(p.owner.GetUID(), p.engine.now(), isDesired)
	p.result.Pending = append(p.result.Pending, statusOfContests(report.Active)...)
	p.result.begun, p.result.ended = statusOfContests(report.Begun), statusOfContests(report.Ended)
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, report.Wait)
}
