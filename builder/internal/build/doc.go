// Package build identifies the build of the running program.
//
// It takes nothing, and returns a digest.
//
// Invariant: equal programs with equal arguments have equal digests on every machine; a changed program or argument has another one.
package build
