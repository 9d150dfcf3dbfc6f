// Package family finds what belongs to an object: what has it as an owner, what has those as owners, and so on.
//
// The kind of the owner determines which kinds are read. The children of the kinds of Armature and of Kubernetes are known ([below]).
// The operators of other custom resources may create any kind, so all kinds that the cluster lists are read, by their metadata first.
// Each kind is listed once, regardless of the number of objects.
package family
