package memory

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/events"
)

// Failures has which failure of a call was reported last, so that each is reported once until something else happens.
type Failures struct {
	reported *Recent[Call, string] // reason and note
}

// Call separates what is done for one owner in several calls, so that a success of one (its ConfigMaps) doesn't end the failure of
// another (its Deployments).
type Call struct {
	Owner types.UID
	Scope string
}

// IsNew reports whether a failure isn't the one that was reported last, and notes it.
func (f Failures) IsNew(call Call, ev events.Event) bool {
	text := ev.Reason + ": " + ev.Note
	if last, ok := f.reported.Get(call); ok && last == text {
		return false
	}
	f.reported.Add(call, text)
	return true
}

// Forget lets the same failure be reported again.
func (f Failures) Forget(call Call) { f.reported.Remove(call) }
