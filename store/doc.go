// Package store keeps the names of the desired objects of one owner.
//
// A pass puts one [Key] (group, kind, namespace and name) into the Store for each desired object. The Store then returns which
// existing objects are stale, that is, not desired. A Store lives in memory for one pass; the API server has the persistent state.
package store
