// Package probes runs the startup, readiness and liveness probes of a container,
// with the kubelet's own HTTP, TCP and gRPC probers, periods and thresholds.
package probes
