// Package kinds knows the kinds of objects: of which kind a Go value is, whether the cluster knows the kind, and whether it is namespaced.
//
// A [Registry] takes objects and kinds and returns kinds, new empty objects, and errors. It asks the client's scheme and RESTMapper once
// for each kind and remembers the answer, because each child is asked for in each pass. What it has forgotten with the process is looked
// up again.
//
// Invariants: a [Kind] is one Go form of a kind, so that objects of two forms are never compared. Of a kind that the cluster doesn't know
// no request is made within a minute of the last one, for any owner; each error about it is a [Missing].
package kinds
