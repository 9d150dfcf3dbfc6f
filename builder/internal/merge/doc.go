// Package merge computes the object that server-side apply would make, so that the builder can also send changes that an apply can't
// make: the same object without an obstructing field. Objects are as decoded from JSON. The managed fields of the live object show
// which lists have keys, and which manager owns each field. So the package needs no schema, and treats every kind alike.
//
// It takes [Objects] and returns a [Result]; [Amend] takes both and changes a copy, step by step, for the fields that the API server has
// refused.
//
// Invariants: it changes none of the given objects. What is desired stays desired, and what is ignored stays as it is.
package merge
