// Package paths parses the paths that name fields: spec.replicas, metadata.annotations[example.com/x],
// spec.template.spec.containers[name=web].image. It finds the named fields in an object as decoded from JSON, in a Go type, and in
// managed fields.
//
// A path is a list of steps, and a set of paths is a fieldpath.Set. Only [Path.Remove] and [RemoveSet] change an object.
//
// Invariant: [Parse] reads what [Text] returns of a field, unless the key of a map has a bracket or an equals sign, so that a user can
// copy a path from a message into a plan.
package paths
