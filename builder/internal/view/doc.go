// Package view keeps what a plan sees: the children of an owner, what the operator watches, and the state of something outside the
// cluster. It takes objects by their origin and Go type, and returns them as that type: all, or the one of a name.
//
// Invariants: the objects of a type are ordered by namespace and name, so that the same state always makes the same plan; a watched
// object that two sources list is there once; a watched object never stands for a child, because others can write it. A kind that the
// operator doesn't declare is never just empty: plancheck.Asked notes that it was asked for. Objects are shared with the cache and never
// copied here.
package view
