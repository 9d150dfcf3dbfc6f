// Package inventory says what an owner has: whether an object is its child, of which kinds it has children, and where.
//
// It takes objects as they were read and returns values: an [Ownership], an [Inventory], the merge patch that changes one
// inventory into another. It makes no request.
//
// Invariant: what isn't proved to be the owner's is [NotOwned]; whoever deletes asks here first. A kind is in the inventory
// before the first child of the kind is created, and the finalizer is on the owner as long as the inventory has cross-namespace
// children.
package inventory
