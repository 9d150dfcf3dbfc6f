// Package sources has the watch sources of an operator. A [Source] maps the events of a kind to requests for the owners that they
// concern. It also returns the objects of the kind that an owner's plan reads. Each source has its own file:
//
//	Dependents    objects that the owner's children control   the pods of jobs
//	ReferencedBy  objects that the owner's spec names         a secret, a template
//	Referencing   objects that name the owner                 pods with its name in a label
//	SeenByAll     all objects of the kind                     nodes
//
// Three types find the children themselves: [ByController] in an informer's index, [ByName] one by one, for a kind that no role should
// list, and [CrossNamespace] outside the owner's namespace. [OwnerChanged] selects the events of an owner that enqueue it.
//
// Invariants: A source writes nothing to the cluster. Objects come from the cache without copies and must not be changed. An owner
// that an event doesn't enqueue observes the change at its next pass, so a lost event costs time and never correctness. An object that
// exists when the program starts enqueues no owner, because every owner has a pass then.
package sources
