// Package toolarge explains why the API server or etcd refused an object for its size.
//
// It takes the error of a write and the object as decoded from JSON. It returns the limit that was exceeded, and the smallest
// field that holds most of the object's size, with its size in bytes. What an error doesn't say stays unsaid: an error about
// anything else is returned as it is.
package toolarge
