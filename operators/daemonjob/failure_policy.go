package daemonjob

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// hasTooManyFailures reports whether maxFailures nodes (default 1) have failed, upon which failurePolicy takes effect.
func hasTooManyFailures(spec *v1alpha1.DaemonJobSpec, o *observed) bool {
	limit := 1
	if spec.MaxFailures != nil {
		limit = shareOf(spec.MaxFailures, o.desired())
	}
	return len(o.failed) >= limit
}

// howToResume says how to continue a job that failurePolicy Pause has paused.
func howToResume(spec *v1alpha1.DaemonJobSpec) string {
	without := "set failurePolicy to Continue"
	if spec.MaxFailures != nil {
		without += " and remove maxFailures"
	}
	return fmt.Sprintf("to run the failed nodes again and go on, set retry to %d; to go on without them, %s", spec.Retry+1, without)
}
