package diagnose

import (
	"fmt"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// stopped: its deadline or a user ended it early. Its children were stopped with it, so they are not the cause.
func stopped(s subject) *Finding {
	for _, kind := range []string{v1alpha1.ConditionStopped, v1alpha1.ConditionFailed, "FailureTarget"} {
		c := s.isTrue(kind)
		if c == nil || isBehind(s.Object) {
			continue
		}
		switch c.Reason {
		case v1alpha1.ReasonDeadlineExceeded:
			return failed("DeadlineExceeded", "it was stopped because it was active for longer than "+deadline(s.Object)).
				do("raise the deadline or reduce the work; the logs show what took long, if the pods still exist")
		case v1alpha1.ReasonTerminated:
			return failed("Terminated", "it was stopped because spec.terminate is true").
				do("armature retry %s%s runs the stopped nodes and those that never ran", typed(s.Object), s.flagN())
		}
	}
	if s.pod != nil && s.pod.Status.Reason == v1alpha1.ReasonDeadlineExceeded {
		return failed("DeadlineExceeded", "it was stopped because it was active for longer than "+deadline(s.Object)).
			do("raise spec.activeDeadlineSeconds of the pod template, or reduce the work")
	}
	return nil
}

// deadline names the field that bounds how long an object may be active, and its value.
func deadline(o *Object) string {
	for _, path := range [][]string{{"activeDeadlineSeconds"}, {"runPolicy", "activeDeadlineSeconds"}, {"deadlineSeconds"}} {
		if n, found, _ := nestedNumber(o, append([]string{"spec"}, path...)...); found && n > 0 {
			var text strings.Builder
			text.WriteString("spec")
			for _, p := range path {
				text.WriteString("." + p)
			}
			return fmt.Sprintf("%s allows, %d s", text.String(), n)
		}
	}
	return "its deadline allows"
}
