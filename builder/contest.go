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
	meta.SetStatusCondition(conditions,
		status.Condition(events.ConditionContested, true, events.ReasonContested, r.contestMessage(), generation, now))
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

// overrideContested reports contests beside the conditions that a plan sets. was are those of the observed owner.
func (r Result) overrideContested(conditions *[]metav1.Condition, was []metav1.Condition, generation int64, err error, now time.Time) {
	r.setContested(conditions, generation, now)
	if len(r.contested()) == 0 || err != nil && !isConflict(err) {
		return
	}
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		isStalled := kind == events.ConditionStalled
		status.Override(conditions, was, status.Condition(kind, isStalled, events.ReasonContested, r.contestMessage(), generation, now))
	}
}

// noteContests adds the owner's contests to the result. After an error it treats every child as desired, because the pass may not know
// all desired children.
func (p *pass) noteContests(err error) {
	if p.engine.dry || p.owner.GetDeletionTimestamp() != nil {
		return
	}
	isDesired := func(key store.Key) bool { return err != nil || p.cluster.DesiredKeys.Has(key) }
	report := p.engine.memory.Contests.Report(p.owner.GetUID(), p.engine.now(), isDesired)
	p.result.Pending = append(p.result.Pending, statusOfContests(report.Active)...)
	p.result.begun, p.result.ended = statusOfContests(report.Begun), statusOfContests(report.Ended)
	p.result.RequeueAfter = sooner(p.result.RequeueAfter, report.Wait)
}
