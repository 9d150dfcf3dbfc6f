// Package telemetry counts, times and traces a controller's writes.
//
// It takes a client, the controller's name, results and numbers of objects. It returns a client that does the same and reports each write
// (Client), spans (Tracer), and sums of numbers over owners (Sum). The metrics are in controller-runtime's registry, which a manager
// serves at /metrics; docs/metrics.md explains them.
//
// Invariants:
//
//   - Only writes and waits are reported: an unchanged child costs nothing, and without a provider a span neither.
//   - The values of each label are a fixed list, except controllers and kinds.
package telemetry
