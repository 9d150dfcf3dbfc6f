// Package plancheck finds invalid plans, that is, errors that don't depend on the state of the cluster and that a retry can't fix.
//
//	Declared  the kinds that the operator declares   children and kinds to prune that it doesn't own
//	Asked     the kinds that the plan reads          kinds that are never found, because the operator doesn't declare them
//	Plan      the fields of a plan, as values        negative times, a status of another object, events that no API server takes
//	Guard     owner and observed objects, before     objects that the plan has changed, although they are shared with the cache
//	CheckRepeated    the children of several calls   children that depend on more than the arguments, or contain the time
//	CheckSame        the report of two calls, in tests   a status or an event that depends on more than the arguments
//	CheckIdentities  the children, in tests          a missing name, another namespace, the same child twice
//
// Each returns errors that are ErrMisuse and name the object, the field, and the line to add to the operator. The application of a
// single child finds those of CheckIdentities as well, and errors in its options.
//
// Invariants: the check of a valid plan allocates nothing, for any number of children; the package neither reads nor writes the
// cluster.
package plancheck
