// Package memory is what an engine remembers between passes.
//
// A [Memory] takes what passes have learned of children and owners, and gives it back to later passes. All of it is bounded, in memory
// only, and safe for concurrent use.
//
// Invariant: forgetting costs requests or a repeated event, as each field of Memory says, and never correctness. So a process that starts
// knows nothing and does the same, at most more slowly.
package memory
