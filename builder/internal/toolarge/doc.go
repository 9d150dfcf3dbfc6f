// Package toolarge explains why the API server or etcd refused an object because of its size.
//
// It takes the error of a write and the object as decoded from JSON. It returns the exceeded limit, and the smallest field that holds
// most of the object's size, with its size in bytes. It returns any other error unchanged.
//
// Invariant: the value of a field never becomes part of an error, only its path and size.
package toolarge
