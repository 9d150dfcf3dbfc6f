// Package manifest reads manifests as kubectl does, and knows the line and column of each of their fields.
//
// The values are those that kubectl would send: YAML is made into JSON by the same library. The places come from a second
// parser, which keeps them. [Document.At] finds the place of a path such as
// spec.flows[2].dependencies[0], as errors of the API server name it.
package manifest
