// Package merge computes what server-side apply would make of an object, so that the builder can send what an apply can't
// say: the same without a field that is in the way. Objects are as decoded from JSON. Which lists have keys, and whose
// each field is, is read from the managed fields of the live object: no schema is needed, and every kind is treated alike.
package merge
