// Package failure has the errors of a pass, for the steps that can't import package builder. Package builder exports them under its
// own names.
//
// A step returns an [Error] about each failed object, several of them joined. [IsTerminal] reports whether a retry can't help,
// [IsConflict] whether the error needs no report.
//
// Invariant: a step's error wraps one of the causes below if builder documents that errors.Is finds it.
package failure
