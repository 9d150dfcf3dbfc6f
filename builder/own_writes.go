package builder

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/store"
)

// ownWrites remembers for each owner what the last passes over it have written, until a list for that owner has waited
// for it. A list of a consistent client waits for all writes of its kind, those of other owners that are under way
// among them: where one owner creates thousands of Jobs, each pass of each other owner would wait for its requests.
type ownWrites struct {
	mu      sync.Mutex
	byOwner *recent[types.UID, map[kinds.Kind][]store.Key]
}

func newOwnWrites() *ownWrites {
	return &ownWrites{byOwner: newRecent[types.UID, map[kinds.Kind][]store.Key]()}
}

func (w *ownWrites) add(owner types.UID, k kinds.Kind, keys ...store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, ok := w.byOwner.Get(owner)
	if !ok {
		of = map[kinds.Kind][]store.Key{}
		w.byOwner.Add(owner, of)
	}
	of[k] = append(of[k], keys...)
}

// take returns what was written of a kind, and forgets it.
func (w *ownWrites) take(owner types.UID, k kinds.Kind) []store.Key {
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

// wrote notes a write for the owner.
func (p *pass) wrote(k kinds.Kind, key store.Key) {
	if !p.engine.dry && p.engine.isIndexed(k) {
		p.engine.memory.written.add(p.owner.GetUID(), k, key)
	}
}

// awaitOwnWrites reads what was written for an owner: a consistent client's read of an object waits for the writes of
// that object alone.
func (e *Engine) awaitOwnWrites(ctx context.Context, owner types.UID, k kinds.Kind) error {
	keys := e.memory.written.take(owner, k)
	if len(keys) == 0 {
		return nil
	}
	into, err := e.kinds.Empty(k)
	if err != nil {
		return err
	}
	for i, key := range keys {
		err := e.client.Get(ctx, key.NamespacedName(), into, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			e.memory.written.add(owner, k, keys[i:]...)
			return &Error{Key: key, Operation: "read", Err: err}
		}
	}
	return nil
}
