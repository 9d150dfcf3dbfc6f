// Package build identifies the build of the running program.
//
// It takes arguments of the program, and returns a digest of its executable and of them.
//
// Invariant: equal programs with equal arguments have equal digests on every machine; a changed program or argument has another one.
package build
