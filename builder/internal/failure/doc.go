// Package failure has the errors of a pass, for the steps that can't import package builder: it gives them to its users under its own names.
//
// Invariant: an error that a step returns wraps one of these causes if builder's users are promised that errors.Is finds it.
package failure
