package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// OwnWrites remembers for each owner what the last passes over it have written, until a list for that owner has waited
// for it. A list of a consistent client waits for all writes of its kind, those of other owners that are under way
// among them: where one owner creates thousands of Jobs, each pass of each other owner would wait for its requests.
type OwnWrites struct {
	mu      sync.Mutex
	byOwner *Recent[types.UID, map[kinds.Kind][]store.Key]
}

// Add notes writes for an owner.
func (w *OwnWrites) Add(owner types.UID, k kinds.Kind, keys ...store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, ok := w.byOwner.Get(owner)
	if !ok {
		of = map[kinds.Kind][]store.Key{}
		w.byOwner.Add(owner, of)
	}
	of[k] = append(of[k], keys...)
}

// Take returns what was written of a kind, and forgets it.
func (w *OwnWrites) Take(owner types.UID, k kinds.Kind) []store.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, ok := w.byOwner.Get(owner)
	if !ok {
		return nil
	}
	keys := of[k]
	delete(of, k)
	if len(of) == 0 {
		w.byOwner.Remove(owner)
	}
	return keys
}
