// Package process starts commands under a shim, and is the node's end of it: see
// package shim for what the shim guarantees.
package process
