package replicajob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// events returns the events of the transitions from the recorded status to a new one: one for each condition that becomes true,
// however many replicas are the cause. An event of a failure is about the pod that caused it.
func (p *pass) events(d decision, s *v1alpha1.ReplicaJobStatus) []events.Event {
	var all []events.Event
	emit := func(e events.Event) { all = append(all, e) }
	warn := func(reason, text string) {
		e := events.Warning(reason, text)
		if d.cause != nil {
			e = e.About(d.cause.pod)
		}
		emit(e)
	}
	change := func(kind string) lifecycle.Transition {
		return lifecycle.TransitionOf(p.last.Conditions, s.Conditions, kind)
	}
	switch {
	case d.action == actionStart && p.isSuspended():
		emit(events.Normal(v1alpha1.ReasonResumed, "starts again with "+p.size()))
	case d.action == actionStart:
		emit(events.Normal(v1alpha1.ReasonStarted, "started with "+p.size()))
	}
	if c := change(v1alpha1.ConditionRestarting); c.To(metav1.ConditionTrue) {
		warn(c.After.Reason, c.After.Message)
	} else if d.action == actionRestart {
		warn(d.reason, message.Shorten(d.message))
	}
	for _, kind := range []string{v1alpha1.ConditionRunning, v1alpha1.ConditionSuspended, v1alpha1.ConditionSucceeded} {
		if c := change(kind); c.To(metav1.ConditionTrue) {
			emit(events.Normal(c.After.Reason, c.After.Message))
		}
	}
	if d.action == actionFail {
		warn(d.reason, message.Shorten(d.message))
	}
	if d.problem != nil {
		all = append(all, lifecycle.Refused(p.last.Conditions, p.generation, d.problem.reason, message.Shorten(d.problem.message))...)
	}
	return all
}

// size returns the number of replicas of each type.
func (p *pass) size() string {
	return message.Names(p.world.Types(), func(t v1alpha1.ReplicaType) string { return fmt.Sprintf("%d %s", p.world.Replicas(t), t) })
}
