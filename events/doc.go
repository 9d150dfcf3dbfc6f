// Package events says what happened to an owner, in a fixed vocabulary.
//
// Events are written through the events.k8s.io API, on transitions only and never once per reconcile. The owner is the
// regarding object; when an event is about one child, the child is the related object, which also keeps events about
// different children apart when the server folds repeated events into a series.
package events
