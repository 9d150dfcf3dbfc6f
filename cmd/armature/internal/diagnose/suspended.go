package diagnose

import "strings"

// suspended: the spec says to hold it back.
func suspended(s scene) *Finding {
	field := "spec.suspend"
	on := s.flag("spec", "suspend")
	if s.is("ReplicaJob") {
		field, on = "spec.runPolicy.suspend", s.flag("spec", "runPolicy", "suspend")
	}
	switch {
	case !on, s.hasEnded():
		return nil
	case s.isOurs():
		return blocked("Suspended", "it is suspended: %s is true", field).do("armature resume %s%s", typed(s.Object), s.flagN())
	case s.is("CronJob") && s.parent == nil:
		return blocked("Suspended", "it is suspended: spec.suspend is true, so it starts no Jobs").
			do("kubectl patch %s%s -p '{\"spec\":{\"suspend\":false}}'", typed(s.Object), s.flagN())
	case s.job != nil && s.GetLabels()[kueueQueue] == "":
		return blocked("Suspended", "it is suspended: spec.suspend is true").
			do("kubectl patch %s%s -p '{\"spec\":{\"suspend\":false}}'", typed(s.Object), s.flagN())
	default:
		return nil
	}
}

const kueueQueue = "kueue.x-k8s.io/queue-name"

// queuedByKueue: Kueue has not let the Job start yet.
func queuedByKueue(s scene) *Finding {
	queue := s.GetLabels()[kueueQueue]
	if s.job == nil || queue == "" || !s.flag("spec", "suspend") {
		return nil
	}
	return blocked("Queued", "it waits in Kueue's queue %s", queue).
		do("see what keeps it there: kubectl describe workloads -n %s, and that Kueue runs and has a LocalQueue %s in this namespace",
			s.GetNamespace(), queue)
}

// typed names an object as one types it.
func typed(o *Object) string { return strings.ToLower(o.GetKind()) + "/" + o.GetName() }

// flagN is the flag for an object's namespace, as one types it behind its name. What is in none has none.
func (o *Object) flagN() string {
	if o.GetNamespace() == "" {
		return ""
	}
	return " -n " + o.GetNamespace()
}
