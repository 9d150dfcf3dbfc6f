// Package kindmetrics counts what becomes of the objects of each kind: how many wait and run, how they end, how long that
// takes. docs/metrics.md explains the metrics.
//
// It only observes: an object's status has the times of its start and its end. Only the manager that leads counts, so that the metrics
// of several managers can be added up. Without a leader nothing is counted, but then no status records an end either.
package kindmetrics
