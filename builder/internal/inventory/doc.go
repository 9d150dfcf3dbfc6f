// Package inventory has the relation between an owner and its children: whether an object is the owner's child, and the kinds of its
// children.
//
// It takes objects as they were read and returns values: an [Ownership], an [Inventory], the merge patch that changes one inventory
// into another. It makes no request.
//
// Invariants: An object that isn't proved to be the owner's is [NotOwned], and package apply changes none that is. A kind is in the
// inventory before the first child of the kind is created. The finalizer is on the owner while the inventory has cross-namespace
// children.
package inventory
