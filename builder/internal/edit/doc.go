// Package edit changes an observed object: it computes one merge patch, and sends it.
//
// [New] takes the object as it was observed and as it should be, or its number of replicas, and returns the edit, or a
// failure.ErrMisuse. [SendAll] returns the objects as the API server stored them.
//
// Invariant: the patch has the observed version, so that an object which has changed since is a conflict.
package edit
