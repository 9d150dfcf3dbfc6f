// Package testhook has the functions of package builder that only tests need. Package buildertest exports them, with their types, so that
// the API of package builder has only what a program needs. Package builder sets the variables when it is initialized.
//
// Each variable is a function that takes what its comment says as any, because the types are those of package builder, which imports this
// one.
//
// Invariant: only tests call them. No program depends on one.
package testhook
