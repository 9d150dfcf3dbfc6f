// Package kindmetrics counts what becomes of the objects of each kind: how many wait and run, how they end, how long that
// takes. docs/metrics.md explains the metrics.
//
// It looks on: an object's status tells when it started and ended. Only the manager that leads counts, so that several
// managers can be added up; what ends while none leads isn't counted, but then nothing ends as far as the status tells.
package kindmetrics
