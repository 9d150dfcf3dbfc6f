// Package apply brings the children of one owner to their desired state: it compares, creates, applies and recreates objects.
//
// For each child the caller takes three steps. [Cluster.Desire] takes the child with its options, and returns the object that is compared
// and sent. The caller finds the observed object of its name. [Cluster.Compare] takes both, and returns a [Write] with the action.
// [Cluster.WriteAll] then makes the writes that are necessary, and adds to each the operation and the object that the API server stored.
// It joins their errors; each is a failure.Error about one child. A [Cluster] has all that a step needs of the engine. A step writes only
// the objects and the engine's memory, and never calls back.
//
// Read it in this order:
//
//	desired.go    the Cluster; a child as it is compared and sent, and its key
//	compare.go    every decision about a child: does the owner own it, is it up to date
//	write.go      WriteAll, all writes in parallel; one write: a POST, or a server-side apply
//
// Each of the other files is about one feature: the options of a child (child.go, adopt.go, create_only.go, ignore.go), a change that an
// apply alone can't make (refit.go, take_over.go, immutable.go), another writer (contested.go, left.go), a dry run (dry_run.go, diff.go),
// a roll-out (revision.go), and an undo (former.go). last_applied.go has the annotation of a child:
// what the last apply set. A step whose child doesn't need the feature doesn't call it, or it returns at once.
//
// Invariants:
//
//   - An unchanged child costs no request and, once the process has found it up to date, no allocation of its own.
//   - A step writes only the owner's objects, each by its UID. It refuses another object of that name, or adopts it if an option
//     allows that.
//   - A step deletes an object only to recreate it, only in the observed version, and only if a dry run has shown that the API
//     server refuses the change and not the object.
//   - A step changes neither the given objects nor the observed ones.
package apply
