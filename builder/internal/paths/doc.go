// Package paths understands the paths by which fields are named: spec.replicas, metadata.annotations[example.com/x],
// spec.template.spec.containers[name=web].image. It finds what they name in an object as decoded from JSON, in a Go
// type, and in a record of field owners.
package paths
