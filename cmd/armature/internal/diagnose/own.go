package diagnose

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// jobFailed: a Job has failed, and no pod of it is left to show the cause.
func jobFailed(s subject) *Finding {
	if s.job == nil {
		return nil
	}
	c := s.isTrue("Failed")
	if c == nil {
		c = s.isTrue("FailureTarget")
	}
	if c == nil {
		return nil
	}
	if name := s.job.Spec.Template.Spec.NodeName; name != "" && s.Nodes != nil && s.node(name) == nil {
		return failed("NodeNotFound", "there is no node "+name+", which its pod template names, "+
			"so its pods were deleted: "+ending(c.Reason, c.Message)).
			do("correct the node's name: kubectl get nodes")
	}
	return failed(c.Reason, "it has failed: "+c.Message+lost(s)).
		do("its pods are deleted, and their logs with them; run it again, and read the logs while it runs")
}

// lost counts the failed pods, which are deleted.
func lost(s subject) string {
	if n := s.job.Status.Failed; n > 0 {
		return "; " + count(int(n), "pod") + " failed"
	}
	return ""
}

// rolloutFailed: a Deployment exceeded its progress deadline.
func rolloutFailed(s subject) *Finding {
	c := s.isFalse("Progressing")
	if !s.is("Deployment") || c == nil || c.Reason != "ProgressDeadlineExceeded" {
		return nil
	}
	undo := fmt.Sprintf("kubectl rollout undo %s%s returns to the previous revision", typed(s.Object), s.flagN())
	return blocked("ProgressDeadlineExceeded", "its roll-out exceeded its progress deadline: %s", c.Message).
		do("%s", s.toChange(undo, "spec", "template"))
}

// waits: its condition reports that it waits for another object, as a plan with WaitingFor does.
func waits(s subject) *Finding {
	c := s.isFalse("Ready")
	if c != nil && c.Reason == v1alpha1.ReasonPodsTerminating {
		return blocked(c.Reason, "%s", c.Message).do("wait until that pod has ended; it then continues automatically")
	}
	if c == nil || c.Reason != events.ReasonWaiting || !strings.HasPrefix(c.Message, "waiting for ") {
		return nil
	}
	return blocked(c.Reason, "it is %s", c.Message).do("it continues automatically once the condition is met")
}

// stalled: its condition reports that it makes no progress until a user intervenes.
func stalled(s subject) *Finding {
	c := s.isTrue("Stalled")
	if c == nil {
		return nil
	}
	return s.ownWords(c.Reason, c.Message)
}

// reportsFailure: its status reports a failure, and no other rule explains it.
func reportsFailure(s subject) *Finding {
	if s.pod != nil && HasFailed(s.Object) {
		return failed("Failed", strings.TrimSuffix("it has failed: "+ending(s.pod.Status.Reason, s.pod.Status.Message), ": "))
	}
	for _, kind := range []string{"Failed", "Ready"} {
		c := s.condition(kind)
		if c != nil && HasFailed(s.Object) && c.Message != "" {
			return s.ownWords(c.Reason, c.Message)
		}
	}
	return nil
}

// ownWords returns a finding with the message of the object's own condition. The message can name any object, so the next step of a
// blocked one changes none.
func (s subject) ownWords(reason, message string) *Finding {
	if !HasFailed(s.Object) {
		return blocked(reason, "it can't progress: %s", ending(reason, message)).
			do("correct what the message names: kubectl describe %s%s shows the object and its events", typed(s.Object), s.flagN())
	}
	found := failed(reason, "it has failed: "+message)
	if s.isOurs() && s.is("JobFlow", "DaemonJob") && reason != v1alpha1.ReasonInvalidSpec {
		return found.do("fix the cause, then: armature retry %s%s", typed(s.Object), s.flagN())
	}
	return found.do("fix the cause, then create it again")
}
