// Package when compiles and evaluates the expressions that decide whether a flow is started: CEL, over the outcomes of
// other flows.
//
//	jobs.build.succeeded && jobs["unit-tests"].output != "flaky"
//
// jobs maps names to values of the type Job{succeeded, failed, skipped bool, output string}. It has the flows that the
// expression may look at and no others: [Compile] refuses to name another one. In finally there is state besides, a
// string. What is found wrong has a place in the expression. Evaluation is bounded in cost.
package when
