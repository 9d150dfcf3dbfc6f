package replicajob

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

const (
	// maxDetail bounds what a failed container has to say, in bytes.
	maxDetail = 256
	// maxListed bounds what is listed one by one.
	maxListed = 10
)

// transitions returns the events of a job: one for each condition that has become true and wasn't, however many replicas
// were the cause. The culprit, if there is one, is what the event is about.
func (j *job) transitions(s *v1alpha1.ReplicaJobStatus, culprit *failure) []events.Event {
	var told []events.Event
	tell := func(e events.Event) {
		if culprit != nil {
			e = e.About(culprit.slot.pod)
		}
		told = append(told, e)
	}
	became := func(kind string) (reason, message string, yes bool) {
		is := meta.FindStatusCondition(s.Conditions, kind)
		if is == nil || is.Status != "True" || meta.IsStatusConditionTrue(j.was.Conditions, kind) {
			return "", "", false
		}
		return is.Reason, is.Message, true
	}
	if j.was.StartTime == nil && s.StartTime != nil && !j.isSuspended() {
		told = append(told, events.Normal(v1alpha1.ReasonStarted, "started with "+j.cast()))
	}
	if reason, message, yes := became(v1alpha1.ConditionRestarting); yes || s.Restarts > j.was.Restarts {
		if !yes {
			c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionRestarting)
			reason, message = c.Reason, c.Message
		}
		tell(events.Warning(reason, message))
	}
	if reason, message, yes := became(v1alpha1.ConditionRunning); yes {
		told = append(told, events.Normal(reason, message))
	}
	if reason, message, yes := became(v1alpha1.ConditionSuspended); yes {
		told = append(told, events.Normal(reason, message))
	}
	if j.isSuspended() && s.StartTime != nil {
		told = append(told, events.Normal(v1alpha1.ReasonResumed, "starts again with "+j.cast()))
	}
	if reason, message, yes := became(v1alpha1.ConditionSucceeded); yes {
		told = append(told, events.Normal(reason, message))
	}
	if reason, message, yes := became(v1alpha1.ConditionFailed); yes {
		tell(events.Warning(reason, message))
	}
	return told
}

// refused returns the event of a spec that can't be carried out, unless it was told of this generation before.
func (j *job) refused(reason, message string) []events.Event {
	before := meta.FindStatusCondition(j.was.Conditions, events.ConditionReady)
	if before != nil && before.Reason == reason && before.Message == message && before.ObservedGeneration == j.generation {
		return nil
	}
	return []events.Event{events.Warning(reason, message)}
}

// changeIgnored is the event of a spec that was changed too late.
func (j *job) changeIgnored() []events.Event {
	if j.was.ObservedGeneration == j.generation {
		return nil
	}
	return []events.Event{events.Warning(v1alpha1.ReasonChangeIgnored, fmt.Sprintf(
		"the job has ended (%s), so the change of its spec has no effect on it; create a new one to run it", j.was.State))}
}

// cast says how many replicas of each type there are.
func (j *job) cast() string {
	return list(j.world.Types(), func(t v1alpha1.ReplicaType) string { return fmt.Sprintf("%d %s", j.world.Replicas(t), t) })
}

// restarting says why replicas are made again; empty if none is.
func restarting(failures []failure) string {
	var again []*failure
	for i := range failures {
		if failures[i].restartsReplica() {
			again = append(again, &failures[i])
		}
	}
	return list(again, (*failure).String)
}

// firstOf returns the first of the failures for which replicas are made again, or nil.
func firstOf(failures []failure) *failure {
	for i := range failures {
		if failures[i].restartsReplica() {
			return &failures[i]
		}
	}
	return nil
}

// list joins the first few items and counts the rest.
func list[T any](items []T, describe func(T) string) string {
	var b strings.Builder
	for n, item := range items {
		if n == maxListed {
			fmt.Fprintf(&b, ", and %d more", len(items)-n)
			break
		}
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString(describe(item))
	}
	return b.String()
}
