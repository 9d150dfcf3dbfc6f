// Package status has the conditions of an owner as values.
//
// It takes the outcome of a pass, or its failure, and a list of conditions; it changes nothing but that list. Invariants:
//
//   - A condition's time changes with its status only, so that the same outcome changes nothing and causes no write.
//   - What a pass has reported in place of the plan is removed by the next one that has nothing to report; the reasons tell it
//     from the plan's own conditions.
package status
