package diagnose

import (
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// jobFailed: a Job has failed, and has no pod left that says why.
func jobFailed(s scene) *Finding {
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
			"so that its pods are gone: "+ending(c.Reason, c.Message)).
			do("correct the node's name: kubectl get nodes")
	}
	return failed(c.Reason, "it has failed: "+c.Message+lost(s)).
		do("its pods are gone, and their logs with them; run it again, and look while it runs")
}

// lost tells of pods that are gone.
func lost(s scene) string {
	if n := s.job.Status.Failed; n > 0 {
		return "; " + count(int(n), "pod") + " failed"
	}
	return ""
}

// rolloutFailed: a Deployment isn't done in time.
func rolloutFailed(s scene) *Finding {
	c := s.isFalse("Progressing")
	if !s.is("Deployment") || c == nil || c.Reason != "ProgressDeadlineExceeded" {
		return nil
	}
	return blocked("ProgressDeadlineExceeded", "its roll-out isn't done in time: %s", c.Message).
		do("kubectl rollout undo %s%s returns to what was before", typed(s.Object), s.flagN())
}

// waits: it says itself that it waits for something outside of it, as a plan with WaitingFor does.
func waits(s scene) *Finding {
	c := s.isFalse("Ready")
	if c != nil && c.Reason == v1alpha1.ReasonPodsTerminating {
		return blocked(c.Reason, "%s", c.Message).do("it goes on by itself once that pod has ended")
	}
	if c == nil || c.Reason != events.ReasonWaiting || !strings.HasPrefix(c.Message, "waiting for ") {
		return nil
	}
	return blocked(c.Reason, "it is %s", c.Message).do("it goes on by itself once that is so")
}

// stalled: it says itself that nothing more will happen until someone changes something.
func stalled(s scene) *Finding {
	c := s.isTrue("Stalled")
	if c == nil {
		return nil
	}
	return s.ownWords(c.Reason, c.Message)
}

// hasFailed: it says itself that it has failed, and no more is known of it.
func hasFailed(s scene) *Finding {
	if s.pod != nil && HasEndedBadly(s.Object) {
		return failed("Failed", strings.TrimSuffix("it has failed: "+ending(s.pod.Status.Reason, s.pod.Status.Message), ": "))
	}
	for _, kind := range []string{"Failed", "Ready"} {
		c := s.condition(kind)
		if c != nil && HasEndedBadly(s.Object) && c.Message != "" {
			return s.ownWords(c.Reason, c.Message)
		}
	}
	return nil
}

// ownWords is a finding in an object's own words.
func (s scene) ownWords(reason, message string) *Finding {
	if !HasEndedBadly(s.Object) {
		return blocked(reason, "it goes no further: %s", ending(reason, message)).
			do("change what it names: kubectl edit %s%s", typed(s.Object), s.flagN())
	}
	found := failed(reason, "it has failed: "+message)
	if s.isOurs() && s.is("JobFlow", "DaemonJob") && reason != v1alpha1.ReasonInvalidSpec {
		return found.do("once what failed is fixed: armature retry %s%s", typed(s.Object), s.flagN())
	}
	return found.do("once what failed is fixed, create it again")
}
