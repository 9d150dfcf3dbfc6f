// Package prune deletes an owner's children that aren't desired, and keeps the record of the kinds that the owner has children of.
//
// A [Pruner] takes what a pass observes and desires. [Pruner.Record] is called before the pass creates a child, [Pruner.Prune] at its end,
// and [Pruner.Finalize] instead of a pass over a terminating owner. The last two return an [Outcome]. Read it in this order:
//
//	prune.go      which children of known kinds are stale, and their deletion
//	leftovers.go  kinds of which nothing is desired any more, and cross-namespace children of an owner that is deleted
//	inventory.go  the record on the owner: one patch
//
// Invariants: A deletion has the observed UID and version of the object as preconditions. A kind is removed from the record only when the
// API server, and not just the cache, has no child of it, so that a crash at any request leaves nothing behind.
package prune
