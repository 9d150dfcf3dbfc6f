// Package when compiles and evaluates the expressions that decide whether a flow is started: CEL, over the outcomes of
// other flows.
//
//	jobs.build.succeeded && jobs["unit-tests"].output != "flaky"
//
// jobs maps names to values of the type Job{succeeded, failed, skipped bool, output string}. It has only the flows that the
// expression may read: [Compile] refuses another name. In finally there is also state, a string. Errors have a position in the
// expression. The cost of an evaluation is limited.
package when
