// Package paths parses the paths that name fields: spec.replicas, metadata.annotations[example.com/x],
// spec.template.spec.containers[name=web].image. It finds the named fields in an object as decoded from JSON, in a Go type, and in
// managed fields.
package paths
