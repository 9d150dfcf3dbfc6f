package memory

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/events"
)

// Failures has the last reported failure of each call, so that a failure is reported once until something else happens.
type Failures struct {
	reported *Recent[Call, string] // reason and note
}

// Call separates the calls for one owner, so that a success of one (its ConfigMaps) doesn't end the failure of another (its
// Deployments).
type Call struct {
	Owner types.UID
	Scope string
}

// IsNew reports whether a failure differs from the last reported one, and records it.
func (f Failures) IsNew(call Call, ev events.Event) bool {
	text := ev.Reason + ": " + ev.Note
	if last, ok := f.reported.Get(call); ok && last == text {
		return false
	}
	f.reported.Add(call, text)
	return true
}

// Forget allows the same failure to be reported again.
func (f Failures) Forget(call Call) { f.reported.Remove(call) }
