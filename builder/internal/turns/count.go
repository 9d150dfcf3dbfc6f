package turns

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// Count counts an owner in the metric, by the mark that its last pass has left. An owner without a mark doesn't count.
func (t *Turns) Count(owner types.NamespacedName, m Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.halting, owner)
	if m.Reason == events.ReasonRolloutHalted {
		t.halting[owner] = struct{}{}
	}
	t.counts.Set(t.storeKey(owner), m.IsWaiting(), m.IsInTurn(), t.isHaltedBy(owner))
}

// recount counts the owners that halt the roll-out again. A user's decision needs no pass of them.
func (t *Turns) recount() {
	for owner := range t.halting {
		t.counts.Set(t.storeKey(owner), false, true, t.isHaltedBy(owner))
	}
}

// isHaltedBy reports whether other owners wait for a user's decision about an owner. After an abort they don't wait, and a resumed
// roll-out passes the owner.
func (t *Turns) isHaltedBy(owner types.NamespacedName) bool {
	_, halts := t.halting[owner]
	return halts && t.record.State == Progressing && !t.isPassed(owner)
}

func (t *Turns) storeKey(owner types.NamespacedName) store.Key {
	return store.KeyOf(t.operator.Owner, owner.Namespace, owner.Name)
}
