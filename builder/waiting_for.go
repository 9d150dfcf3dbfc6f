package builder

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// waitingFor is the message of a plan that waits.
func (r Result) waitingFor() string {
	return listed("waiting for ", r.WaitingFor, func(what string) string { return what })
}

// tellWaiting emits an event when a plan begins to wait, or waits for something else. What it waited for before is in the
// owner's condition Ready, so that a restart of the process tells nothing twice.
func (l *loop[T]) tellWaiting(owner T, res Result, err error) {
	conditioned, ok := any(owner).(Conditioned)
	if !ok || err != nil || len(res.WaitingFor) == 0 || client.Object(owner).GetDeletionTimestamp() != nil {
		return
	}
	message := res.waitingFor()
	if res.outcome(nil).message != message {
		return // something else is more urgent
	}
	before := meta.FindStatusCondition(*conditioned.Conditions(), ConditionReady)
	if before == nil || before.Reason != ReasonWaiting || before.Message != message {
		l.engine.emit(owner, events.Normal(ReasonWaiting, message))
	}
}
