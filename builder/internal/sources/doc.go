// Package sources has the watch sources of an operator: which events enqueue an owner, and which objects its plan reads. The Handler of a
// [Source] takes the events of a kind and enqueues requests for the owners that they concern. Its Observe takes an owner and its children
// and returns the objects of the kind that the owner's plan reads. A source is a file of its own:
//
//	Dependents     objects that the owner's children control   the pods of jobs
//	ReferencedBy   objects that the owner's spec names         a secret, a template
//	Referencing    objects that name the owner                 pods with its name in a label
//	ObservedByAll  all objects of the kind                     nodes
//
// The children themselves are no Source: Owns of controller-runtime maps their events to owners, and [CrossNamespaceOwner] those of
// cross-namespace children. [Children] are those of one owner in one pass. [ByController] finds them in an informer's index, [ByName] reads
// them one by one, for a kind that no role should list, and [CrossNamespace] finds those beyond the owner's namespace. [OwnerChanged] is
// the predicate that selects the events of an owner.
//
// Invariants: nothing here writes to the cluster. Objects come from the cache without copies and must not be changed. An owner that an
// event doesn't wake sees the change at its next pass, so that a lost or narrowed event costs time and never correctness. With
// ReferencedBy and ObservedByAll, the objects that exist when the program starts enqueue no owner: each has a pass then anyway.
package sources
