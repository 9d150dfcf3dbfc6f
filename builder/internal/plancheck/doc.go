// Package plancheck says what a wrong plan is, whatever the state of the cluster: what a retry can't fix.
//
//	Declared  the kinds that the operator declares   children and kinds to prune that it doesn't own
//	Asked     what the plan asks its view for        kinds that are never found, since the operator doesn't declare them
//	Plan      the fields of a plan, as values        times below zero, a status of another object, events that no API server takes
//	Guard     owner and observed objects, before     objects that the plan has changed, although they are shared with the cache
//
// Each returns errors that are ErrMisuse and name the object, the field, and the line to add to the operator. What is wrong with a
// single child, such as a missing name, is found when it is applied.
//
// Invariants: a plan that is right costs no allocation to check, however many children it has; nothing here reads or writes the
// cluster.
package plancheck
