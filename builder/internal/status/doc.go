// Package status has the conditions of an owner as values.
//
// It takes the outcome of a pass, or its failure, and a list of conditions. It changes only that list. Invariants:
//
//   - A condition's time changes only with its status, so that the same outcome changes nothing and causes no write.
//   - If a pass has reported a failure instead of the plan's conditions, the next pass without a failure removes the report. It
//     recognizes the report by its reasons.
package status
