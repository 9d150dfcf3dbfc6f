// Package store keeps the names of the objects that one owner should have.
//
// A pass puts one [Key] (group, kind, namespace and name) into the Store for each desired object, and then asks it which
// of the existing objects are stale: those that are not desired. A Store lives in memory for one pass; the truth is in
// the API server.
package store
