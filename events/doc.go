// Package events emits events about owners. It also has the reasons of events and conditions, and the types of the standard
// conditions.
//
// Emit writes events through the events.k8s.io API. The builder emits them on transitions only, never once per reconcile. The owner is
// the regarding object. An event about one child has the child as its related object, so that the API server doesn't merge events
// about different children into one series.
package events
