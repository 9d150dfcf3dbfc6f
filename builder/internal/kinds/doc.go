// Package kinds has the kinds of objects: the kind of a Go value, whether the cluster knows the kind, and whether it is namespaced.
//
// A [Registry] takes objects and kinds and returns kinds, new empty objects, and errors. It asks the client's scheme and RESTMapper
// once for each kind and remembers the answer, because each pass needs it for each child. After a restart it asks again.
//
// Invariants: a [Kind] is one Go form of a kind, so that objects of two forms are never compared. For a kind that the cluster doesn't
// know, there is at most one request a minute, for all owners; each error about it is a [Missing].
package kinds
