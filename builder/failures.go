package builder

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// failures remembers which failures have been told, so that each is told once until something else happens. It is in
// memory: after a restart of the process a failure that lasts is told once more.
type failures struct {
	told *lru.Cache // failureKey -> reason and note
}

// failureKey separates what is done for one owner in several calls, so that a success of one (its ConfigMaps) doesn't
// end the failure of another (its Deployments).
type failureKey struct {
	owner types.UID
	scope string
}

// maxFailures bounds what is remembered. What falls out may be told twice.
const maxFailures = 1 << 14

func newFailures() failures { return failures{told: lru.New(maxFailures)} }

// news reports whether a failure wasn't the last that was told.
func (f failures) news(key failureKey, ev events.Event) bool {
	text := ev.Reason + ": " + ev.Note
	if last, ok := f.told.Get(key); ok && last == text {
		return false
	}
	f.told.Add(key, text)
	return true
}

// over lets the same failure be told again.
func (f failures) over(key failureKey) { f.told.Remove(key) }

// emit writes an event about an owner.
func (e *Engine) emit(owner client.Object, ev events.Event) {
	events.Emit(e.recorder, owner, ev)
}
