// Package subset reports whether an object still has all of its desired fields.
//
// A desired object sets few fields. Its empty fields belong to the API server's defaults and to other writers. So the question is not
// whether two objects are equal but whether the second contains the first: every field set in the first has the same value in the
// second. Lists that Kubernetes merges by a key (containers by name, ports by number) may have more elements in the second, but none
// with the key of a desired one. All other lists must have the same elements in the same order.
//
// This package doesn't find a field that is no longer desired: the digest of the desired object shows that.
//
// Invariants: it changes neither object. An object contains itself, and everything contains an object without set fields.
package subset
