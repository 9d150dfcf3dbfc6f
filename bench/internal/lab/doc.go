// Package lab is what benchmarks share: a cluster, a counter of requests, samples and their medians, and a page to
// write the results to.
package lab
