package builder

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// failures remembers which failure of a call was reported last, so that each is reported once until something else happens.
type failures struct {
	reported *recent[failureKey, string] // reason and note
}

// failureKey separates what is done for one owner in several calls, so that a success of one (its ConfigMaps) doesn't
// end the failure of another (its Deployments).
type failureKey struct {
	owner types.UID
	scope string
}

func newFailures() failures { return failures{reported: newRecent[failureKey, string]()} }

// news reports whether a failure isn't the one that was reported last.
func (f failures) news(key failureKey, ev events.Event) bool {
	text := ev.Reason + ": " + ev.Note
	if last, ok := f.reported.Get(key); ok && last == text {
		return false
	}
	f.reported.Add(key, text)
	return true
}

// over lets the same failure be reported again.
func (f failures) over(key failureKey) { f.reported.Remove(key) }

// emit writes an event about an owner.
func (e *Engine) emit(owner client.Object, ev events.Event) {
	events.Emit(e.recorder, owner, ev)
}
