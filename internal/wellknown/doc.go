// Package wellknown has the labels, annotations and other names that Armature writes into objects of a cluster, and a text by which
// its command recognizes a message.
//
// They are part of what is stored: a later version of a program finds its children, their owners and its records by them, so
// that none of the names is ever changed. docs/concepts.md explains them to users.
package wellknown
