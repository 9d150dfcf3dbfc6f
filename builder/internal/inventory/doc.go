// Package inventory has what is written into an owner and its children about each other: the reference of a child to its owner, and the
// kinds of an owner's children.
//
// It takes objects as they were read and returns values: an [Inventory], the merge patch that changes one inventory into another. It makes
// no request.
//
// Invariants: A kind is in the inventory before the first child of the kind is created. The finalizer is on the owner while the inventory
// has cross-namespace children.
package inventory
