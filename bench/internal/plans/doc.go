// Package plans runs the benchmarks of the operators' plans, which are pure functions and need no cluster, with `go test`,
// and writes their results into docs/benchmarks.md.
package plans
