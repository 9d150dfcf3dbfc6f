// Package store keeps the names of the objects that one owner should have.
//
// A Store is filled while a pass runs (one [Key] an object: group, kind, namespace and name) and is then asked which of
// the objects that exist are stale, that is, exist without being wanted. It lives in memory for one pass; the truth is
// in the API server.
package store
