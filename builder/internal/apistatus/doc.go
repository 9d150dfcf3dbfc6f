// Package apistatus reads an error of the API server: which fields it refuses and why, and who refused the request.
//
// It takes an error and returns values. An error of another origin has no causes, no message, and none of the properties that the
// functions report.
package apistatus
