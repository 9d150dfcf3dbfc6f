// Package subset tells whether an object still is as it was wanted.
//
// What is wanted says little: fields that are empty in it are left to the API server's defaults and to others. So the
// question is not whether two objects are equal but whether the first is contained in the second: every field set in
// it has the same value there. Lists that Kubernetes merges by a key (containers by name, ports by number) may have
// more elements in the second, but none with the key of a wanted one; all other lists must have the same elements in the
// same order.
//
// A field that was wanted once and isn't any more is not seen here: that is what the digest of what is wanted is for.
package subset
