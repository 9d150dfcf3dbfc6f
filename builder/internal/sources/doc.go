// Package sources says what wakes an operator and what its plans read. A [Source] takes the events of a kind and returns requests for
// the owners that they concern; it takes an owner and its children and returns the objects of the kind that the owner's plan reads. A
// source is a file of its own:
//
//	Dependents    objects that the owner's children control   the pods of jobs
//	ReferencedBy  objects that the owner's spec names         a secret, a template
//	Referencing   objects that name the owner                 pods with its name in a label
//	SeenByAll     all objects of the kind                     nodes
//
// The children themselves are found by [ByController], in an informer's index, by [ByName], one by one, for a kind that no role
// should list, or beyond the owner's namespace by [CrossNamespace]. [OwnerChanged] says which events of an owner wake it.
//
// Invariants: nothing here writes to the cluster. Objects come from the cache without copies and must not be changed. An owner that an
// event doesn't wake sees the change at its next pass, so that a lost or narrowed event costs time and never correctness. The objects
// that exist when the program starts wake no one: every owner has a pass then anyway.
package sources
