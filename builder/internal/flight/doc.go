// Package flight is what package builder hands to a flight recorder: the passes of its operators, as values.
//
// An operator finds its recorder at its manager ([Source]). A recorded pass collects the requests that it makes ([Requests], [Client],
// [Reader]); a pass that writes nothing and doesn't fail hands over nothing, and allocates nothing for it. Package builder/record renders
// the passes and keeps them.
//
// Invariant: a recorder observes passes and doesn't change them: what a pass requests and returns is the same without one.
package flight
