// Package testsize says how much a test should do. Tests whose work grows with a number (the cases of a property, the objects of a
// benchmark, the minutes of a soak) have a small size in "make test", and their full size in "make test-long":
//
//	for range testsize.Pick(20, 500) {
//		...
//	}
//
// A property of pgregory.net/rapid needs nothing of it: "make test-long" passes -rapid.checks. One with expensive cases sets its small
// size by [Cases].
package testsize
