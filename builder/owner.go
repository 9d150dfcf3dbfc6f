package builder

import (
	"context"
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// The cache may show an owner that is deleted. Each kind has its own watch. After an outage of the API server the watches recover
// separately, up to half a minute apart. A pass may then observe that the garbage collector has deleted the children, and not yet that
// the owner is deleted. It would recreate the children, repeatedly, and a workload that a user has deleted would run again.
//
// Before creating children, a pass therefore re-reads the owner from the API server, if some children have disappeared since the last
// pass, or if the builder can't know that. Other passes, and the first pass of a new owner, make no such request. Create is about
// one child, and usually makes it.

// errOwnerGone ends a pass over an owner that is deleted or terminating. The owner's next pass begins when the cache shows that.
var errOwnerGone = errors.New("the owner is gone")

// confirmOwner returns errOwnerGone if the pass is about to create children for a deleted owner.
func (p *pass) confirmOwner(ctx context.Context, writes []*apply.Write) error {
	if p.gone {
		return errOwnerGone
	}
	if p.confirmed || p.engine.dry || !p.engine.readsLive || !p.ownerMayBeGone(created(writes)) {
		return nil
	}
	k, err := p.engine.kinds.Of(p.owner)
	if err != nil {
		return err
	}
	found, err := p.engine.read(ctx, p.engine.live, k, p.ownerKey)
	if err != nil {
		return err
	}
	if found == nil || found.GetUID() != p.owner.GetUID() || found.GetDeletionTimestamp() != nil {
		p.gone = true
		return errOwnerGone
	}
	p.confirmed = true
	return nil
}

// created returns the keys of the children that writes create.
func created(writes []*apply.Write) []store.Key {
	var keys []store.Key
	for _, w := range writes {
		if w.Action == apply.Create {
			keys = append(keys, w.Desired.Key)
		}
	}
	return keys
}

// ownerMayBeGone reports whether the children to create may have existed before.
func (p *pass) ownerMayBeGone(creates []store.Key) bool {
	if len(creates) == 0 {
		return false
	}
	again := slices.ContainsFunc(creates, func(key store.Key) bool {
		return p.engine.memory.Observed.Contains(memory.Child{Owner: p.owner.GetUID(), Key: key})
	})
	had, known := p.engine.memory.Counts.Get(p.owner.GetUID())
	if !known {
		return p.hasWrittenToOwner()
	}
	return again || p.present() < had
}

// hasWrittenToOwner reports whether this operator has written to the owner, in an earlier process or under another leader.
func (p *pass) hasWrittenToOwner() bool {
	for _, entry := range p.owner.GetManagedFields() {
		if entry.Manager == p.engine.name {
			return true
		}
	}
	return false
}

// present counts the observed children that aren't terminating.
func (p *pass) present() (n int) {
	for _, child := range p.observed {
		if child.GetDeletionTimestamp() == nil {
			n++
		}
	}
	return n
}

// rememberPresent records the number of children after this pass, which is over all of them, for the next pass.
func (p *pass) rememberPresent() {
	if !p.engine.dry {
		p.engine.memory.Counts.Add(p.owner.GetUID(), p.present()+p.added)
	}
}

func (p *pass) rememberObserved(key store.Key) {
	if !p.engine.dry {
		p.engine.memory.Observed.Add(memory.Child{Owner: p.owner.GetUID(), Key: key}, struct{}{})
	}
}

// countAdded counts a child that this pass created or deleted.
func (p *pass) countAdded(op string, k kinds.Kind, key store.Key) {
	switch {
	case !p.listed[k] && !p.listedCrossNamespace[k]:
		p.rememberObserved(key)
	case op == events.ReasonCreated, op == events.ReasonAdopted:
		p.added++
	case op == events.ReasonDeleted, op == events.ReasonRecreating:
		p.added--
	}
}

// deleteOwner deletes an owner in its observed version, or in the version that the pass itself has written. written is the server's
// result of the pass's last status write, nil if the pass didn't write the status.
func (e *Engine) deleteOwner(ctx context.Context, owner, written client.Object) error {
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	k, err := e.kinds.Of(owner)
	if err != nil {
		return err
	}
	present := owner.DeepCopyObject().(client.Object)
	present.SetResourceVersion(e.inventoryOf(owner).ResourceVersion)
	if written != nil {
		present.SetResourceVersion(written.GetResourceVersion())
	}
	_, err = e.delete(ctx, k.Key(owner), present)
	e.emitResult(owner, "delete the owner", Result{}, err)
	return err
}
