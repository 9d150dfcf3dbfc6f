// Package failure has the errors of a pass, for the steps that can't import package builder: it gives them to its users under its own
// names.
//
// A step returns an [Error] about each object that it failed for, several of them joined. [IsTerminal] and [IsConflict] take an error and
// say whether a retry can help, and whether it is worth a word.
//
// Invariant: an error that a step returns wraps one of the causes below if builder's users are promised that errors.Is finds it.
package failure
