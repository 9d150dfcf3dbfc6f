package daemonjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// hasTooManyFailures reports whether maxFailures nodes (default 1) have failed or are certain to, upon which failurePolicy takes effect.
func hasTooManyFailures(spec *v1alpha1.DaemonJobSpec, o *observed) bool {
	limit := 1
	if spec.MaxFailures != nil {
		limit = shareOf(spec.MaxFailures, o.desired())
	}
	return len(o.failed)+len(o.failing) >= limit
}

// ResumeAdvice is where the message of a paused job begins to say how to continue. The progress is before it.
const ResumeAdvice = "; to run the failed nodes again and go on, "

// howToResume returns how to continue a job that failurePolicy Pause has paused, with [ResumeAdvice].
func howToResume(spec *v1alpha1.DaemonJobSpec) string {
	without := "set failurePolicy to Continue"
	if spec.MaxFailures != nil {
		without += " and remove maxFailures"
	}
	return fmt.Sprintf("%sset retry to %d; to go on without them, %s", ResumeAdvice, spec.Retry+1, without)
}
