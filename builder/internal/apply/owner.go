package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/armature-dev/armature/builder/internal/memory"
)

// The cache may show an owner that is deleted. Each kind has its own watch. After an outage of the API server the watches recover
// separately, up to half a minute apart. A pass may then observe that the garbage collector has deleted the children, and not yet that
// the owner is deleted. It would recreate the children, repeatedly, and a workload that a user has deleted would run again.
//
// Before creating children, a pass therefore re-reads the owner from the API server, if some children have disappeared since the last
// pass, or if the builder can't know that. Other passes, and the first pass of a new owner, make no such request. Builder.Create is about
// one child, and usually makes it.

// ErrOwnerGone ends a pass over an owner that is deleted or terminating. The owner's next pass begins when the cache shows that.
var ErrOwnerGone = errors.New("the owner is gone")

// ConfirmOwner returns ErrOwnerGone if the pass is about to create children for a deleted owner. present counts the observed children that
// aren't terminating.
func (c *Cluster) ConfirmOwner(ctx context.Context, writes []*Write, present func() int) error {
	if c.ownerGone {
		return ErrOwnerGone
	}
	if c.ownerConfirmed || c.DryRun || !c.ReadsLive || !c.ownerMayBeGone(writes, present) {
		return nil
	}
	k, err := c.Kinds.Of(c.Owner)
	if err != nil {
		return err
	}
	found, err := c.ReadLive(ctx, k, c.OwnerKey)
	if err != nil {
		return err
	}
	if found == nil || found.GetUID() != c.Owner.GetUID() || found.GetDeletionTimestamp() != nil {
		c.ownerGone = true
		return ErrOwnerGone
	}
	c.ownerConfirmed = true
	return nil
}

// ownerMayBeGone reports whether the children to create may have existed before.
func (c *Cluster) ownerMayBeGone(writes []*Write, present func() int) bool {
	if !slices.ContainsFunc(writes, isCreation) {
		return false
	}
	had, known := c.Memory.Counts.Get(c.Owner.GetUID())
	if !known {
		return c.hasWrittenToOwner()
	}
	return slices.ContainsFunc(writes, c.recreates) || present() < had
}

func isCreation(w *Write) bool { return w.Action == Create }

// recreates reports whether a write creates a child that existed before.
func (c *Cluster) recreates(w *Write) bool {
	return isCreation(w) && c.Memory.Observed.Contains(memory.Child{Owner: c.Owner.GetUID(), Key: w.Desired.Key})
}

// hasWrittenToOwner reports whether this operator has written to the owner, in an earlier process or under another leader.
func (c *Cluster) hasWrittenToOwner() bool {
	for _, entry := range c.Owner.GetManagedFields() {
		if entry.Manager == c.Name {
			return true
		}
	}
	return false
}
