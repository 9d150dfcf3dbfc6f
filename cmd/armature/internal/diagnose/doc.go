// Package diagnose finds out why something doesn't run. It is pure: [Facts] go in, a [Finding] comes out.
//
// Diagnose goes from the owner down to the pods. At each object it asks the rules for its kind, one after the other, whether it
// is this; the first that says yes has the finding. Most look at an object before what is below it: a flow that is suspended
// has nothing to look for below. Some look after that, if nothing below explains it: a Job says itself that it has failed, but
// its pod knows why.
//
// Each rule is a function from a [scene] to a finding or nil, and has a file of its own, or shares one with its like. What
// has failed is told before what is merely held up, what is older before what is newer.
package diagnose
