// Package merge computes the object that server-side apply would make, so that the builder can also send changes that an apply can't
// make: the same object without an obstructing field. Objects are as decoded from JSON. The managed fields of the live object show
// which lists have keys, and which manager owns each field. So the package needs no schema, and treats every kind alike.
package merge
