// Package diagnose finds out why an object doesn't run. It is pure: [Facts] go in, a [Finding] comes out.
//
// Diagnose descends from the owner to its pods. At each object it evaluates the rules in order, and the first finding wins. Most rules
// run before the children are checked: a suspended flow, for example, has no children to check. The others run if no child has a
// finding: a Job reports that it failed, but its pod has the cause.
//
// Each rule is a function from a [subject] to a finding or nil. It has a file of its own, or shares one with related rules. A failure
// takes precedence over an object that is blocked, and an older object over a newer one.
package diagnose
