// Package view has the content of a plan's View: the children of an owner, the watched objects, and the state of something outside the
// cluster. It stores objects by their origin and Go type, and returns them as that type: all of them, or one by its name.
//
// Invariants: The objects of a type are ordered by namespace and name, so that the same state always makes the same plan. A watched
// object that two sources list is included once. A watched object never replaces a child, because other writers can write it. A kind
// that the operator doesn't declare isn't simply empty: plancheck.Asked records the request. The cache shares the objects, and this
// package never copies them.
package view
