// Package graph finds cycles in the dependencies of a spec.
package graph
