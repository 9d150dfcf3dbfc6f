package lifecycle

import (
	"fmt"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// ChangeIgnored returns the event of an edit of a spec after the end. next says what to do to run the new spec.
func ChangeIgnored(kind string, state v1alpha1.State, next string) events.Event {
	return events.Warning(v1alpha1.ReasonChangeIgnored,
		fmt.Sprintf("the %s has ended (%s), so the change of its spec has no effect; %s", kind, state, next))
}
