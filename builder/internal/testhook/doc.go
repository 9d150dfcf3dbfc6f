// Package testhook has the functions of package builder that only tests and replays need. Package buildertest exports them, with their
// types, so that the API of package builder has only what a program needs. Package builder sets the variables when it is initialized.
//
// Each variable is a function that takes what its comment says as any, because the types are those of package builder, which imports this
// one.
//
// Invariant: no operator calls one. Tests do, and a replay of a recorded pass, which runs a plan without a cluster.
package testhook
