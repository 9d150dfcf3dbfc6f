// Package memory is an engine's memory between passes.
//
// A [Memory] stores what passes have learned about children and owners, for later passes. It is limited in size, in memory only, and
// safe for concurrent use.
//
// Invariant: A forgotten entry costs requests or a repeated event, as each field of Memory documents, and never correctness. So a new
// process, which has no entries, does the same, at most more slowly.
package memory
