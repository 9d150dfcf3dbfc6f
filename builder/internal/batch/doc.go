// Package batch makes many requests in parallel, and stops when the rest would fail, too.
//
// [Each] takes a number of requests and a limit, and returns their errors joined, in the order of the requests. [Kinds] skips the
// objects of a kind, or of a kind in a namespace, after a request that failed for a reason that affects all of them.
//
// Invariant: a failure that is likely to affect all requests (a failing server, an exceeded quota) costs only the requests in
// progress, and not one for each object.
package batch
