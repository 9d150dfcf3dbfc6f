package diagnose

import (
	"fmt"
	"strings"
)

// suspended: the spec suspends it.
func suspended(s subject) *Finding {
	field := "spec.suspend"
	on := s.flag("spec", "suspend")
	if s.is("ReplicaJob") {
		field, on = "spec.runPolicy.suspend", s.flag("spec", "runPolicy", "suspend")
	}
	switch {
	case !on, s.HasEnded():
		return nil
	case s.isOurs():
		return blocked("Suspended", "it is suspended: %s is true", field).do("armature resume %s%s", typed(s.Object), s.flagN())
	case s.is("CronJob") && s.parent == nil:
		return blocked("Suspended", "it is suspended: spec.suspend is true, so it starts no Jobs").do("%s", s.toResume())
	case s.job != nil && s.GetLabels()[kueueQueue] == "":
		return blocked("Suspended", "it is suspended: spec.suspend is true").do("%s", s.toResume())
	default:
		return nil
	}
}

// toResume returns how to resume a Job or a CronJob.
func (o *Object) toResume() string {
	return o.toChange(fmt.Sprintf("kubectl patch %s%s -p '{\"spec\":{\"suspend\":false}}'", typed(o), o.flagN()), "spec", "suspend")
}

const kueueQueue = "kueue.x-k8s.io/queue-name"

// queuedByKueue: Kueue has not admitted the Job yet, which is no problem.
func queuedByKueue(s subject) *Finding {
	queue := s.GetLabels()[kueueQueue]
	if s.job == nil || queue == "" || !s.flag("spec", "suspend") {
		return nil
	}
	return waitsFor("Queued", "it waits in Kueue's queue %s", queue).
		do("read the conditions of its Workload: kubectl describe workloads -n %s; "+
			"check that Kueue runs, and that this namespace has LocalQueue %s",
			s.GetNamespace(), queue)
}

// typed names an object as on a command line.
func typed(o *Object) string { return strings.ToLower(o.GetKind()) + "/" + o.GetName() }

// flagN is the flag for an object's namespace, as on a command line, with a leading space. A cluster-scoped object has none.
func (o *Object) flagN() string {
	if o.GetNamespace() == "" {
		return ""
	}
	return " -n " + o.GetNamespace()
}
