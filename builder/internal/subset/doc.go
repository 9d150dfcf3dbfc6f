// Package subset reports whether an object still has all that is desired of it.
//
// A desired object sets few fields: those that are empty in it are left to the API server's defaults and to others. So the
// question is not whether two objects are equal but whether the first is contained in the second: every field set in
// it has the same value there. Lists that Kubernetes merges by a key (containers by name, ports by number) may have
// more elements in the second, but none with the key of a desired one; all other lists must have the same elements in the
// same order.
//
// A field that is no longer desired is not seen here: the digest of the desired object shows that.
package subset
