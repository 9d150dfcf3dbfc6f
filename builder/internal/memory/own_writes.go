package memory

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// OwnWrites has the writes of the last passes over each owner, until a list for that owner has waited for them. A list of a consistent
// client waits for all writes of its kind, including pending ones for other owners. If one owner creates thousands of Jobs, each pass
// of each other owner would wait for its requests.
type OwnWrites struct {
	mu      sync.Mutex
	byOwner *Recent[types.UID, map[kinds.Kind][]store.Key]
}

// Add records writes for an owner.
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

// Take returns the written objects of a kind, and forgets them.
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
