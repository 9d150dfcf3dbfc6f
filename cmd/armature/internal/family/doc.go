// Package family finds what belongs to an object: what has it as an owner, what has those as owners, and so on.
//
// Which kinds are looked at follows from the kind of the owner. For those of Armature and of Kubernetes it is known what they
// make ([below]); for other custom resources, whose operators may make anything, all kinds that the cluster lists are looked
// at, by their metadata first. Each kind is listed once, however many objects there are.
package family
