// Package apistatus reads an error of the API server: which fields it refuses and why, who refused the request, and which limit of its
// size an object exceeds.
//
// It takes an error and returns values. An error of another origin has no causes, no message, and none of the properties that the
// functions report. [ExplainSize] also takes the object as decoded from JSON, and adds the smallest field that holds most of its size.
//
// Invariants:
//   - Only the texts that the API server itself writes count. An admission webhook chooses its own status code and message, so what it
//     refuses is denied, and never invalid.
//   - The value of a field never becomes part of an error, only its path and size.
package apistatus
