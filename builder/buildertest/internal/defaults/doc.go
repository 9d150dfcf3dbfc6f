// Package defaults sets the API server's defaults of empty fields, for common built-in kinds. It follows pkg/apis/*/v1/defaults.go of
// Kubernetes 1.37, and is written by hand because that module is too heavy to import. The conformance tests compare the result with a
// real API server's.
package defaults
