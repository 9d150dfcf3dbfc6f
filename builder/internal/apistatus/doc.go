// Package apistatus reads what the API server says in an error: which fields it refuses and why, and who refused the request.
//
// It takes an error and returns values. An error that doesn't come from the API server has no causes, no message, and none of
// the properties that the functions report.
package apistatus
