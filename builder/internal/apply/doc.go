// Package apply brings the children of one owner to their desired state: it compares, creates, applies and recreates objects.
//
// [Cluster.Apply] is one pass. It takes the children with their options, and returns a [Write] for each: what was compared, what was done,
// what the API server made of it. Its errors are joined, each a failure.Error about one child. Others take the same steps one by one:
// [Cluster.Desire], [Cluster.Compare] and [Cluster.WriteAll]. All that a step needs of the engine is in a [Cluster]; it writes nothing
// but the objects, and the engine's memory.
//
// Read it in this order:
//
//	apply.go      Apply: decide about each child, then make the writes in parallel
//	desired.go    a child as it is compared and sent, and its key
//	compare.go    every decision about a child: is it the owner's, is it up to date
//	write.go      the write: a POST, or a server-side apply
//
// Each of the other files is about one feature: the options of a child (child.go, adopt.go, create_only.go, ignore.go), a change that an
// apply alone can't make (refit.go, take_over.go, immutable.go), another writer (contested.go, left.go), a dry run (dry_run.go, diff.go),
// and a roll-out (revision.go). A step whose child doesn't need the feature doesn't call it, or it returns at once.
//
// Invariants:
//
//   - An unchanged child costs no request and no allocation of its own.
//   - Only the owner's objects are written, each by its UID. Another one of that name is refused, or adopted if an option says so.
//   - An object is deleted only to recreate it, only in the observed version, and only if a dry run has shown that the API server refuses
//     the change and not the object.
//   - The given objects and the observed ones are not changed.
package apply
