// Package apistatus reads an error of the API server: which fields it refuses and why, and who refused the request.
//
// It takes an error and returns values. An error of another origin has no causes, no message, and none of the properties that the
// functions report.
//
// Invariant: only the texts that the API server itself writes count. An admission webhook chooses its own status code and message, so
// what it refuses is denied, and never invalid.
package apistatus
