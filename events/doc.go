// Package events emits events about owners, and has the vocabulary of what happens to an owner: the reasons of events and
// conditions, and the types of the standard conditions.
//
// Events are written through the events.k8s.io API, on transitions only and never once per reconcile. The owner is the
// regarding object. An event about one child has the child as its related object, so that the API server doesn't fold
// events about different children into one series.
package events
