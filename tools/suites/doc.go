// Suites runs the suites of make test by gotestsum, and prints one table of all of them at the end; and prints their coverage:
//
//	suites run -name NAME [-out DIR] [-C DIR] [-packages "..."] [-- FLAG OF GO TEST...]
//	suites report [-out DIR] NAME...
//	suites coverage -packages "..." -gaps FILE -unit PROFILE -both PROFILE
//
// run runs one suite. Progress is printed as it runs, and failed tests are run a second time if there are no more than five.
// A test that passes then doesn't fail the suite, but is FLAKY: it is told of at the end with its output. Nothing is run a
// second time after a data race, a panic, or a failure outside of a test. The events of go test -json go to DIR/NAME.json.
//
// report prints what became of each suite and package and how long it took, the 20 slowest tests, the flaky ones and the failures
// with their output, of which a long one lacks its middle. A suite that didn't run to its end counts as failed.
//
// coverage prints how many statements of each package tests run, by two profiles of go tool covdata: of the tests without a cluster, and
// of all. It fails at a package with 90 % or less that isn't in the file of known gaps, and at a known gap with 92 % or more.
package main
