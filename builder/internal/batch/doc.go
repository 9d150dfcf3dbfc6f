// Package batch makes many requests in parallel, and stops where the rest would fail, too.
//
// [Each] takes a number of requests and a limit, and returns their errors joined, in the order of the requests. [Kinds] leaves out the
// objects of a kind, or of a kind in a namespace, for which a request has failed in a way that reaches all of them.
//
// Invariant: a failure that is likely to hit all requests (a server in trouble, a full quota) costs as many as are under way, and not one
// for each object.
package batch
