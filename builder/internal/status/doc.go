// Package status sets the standard conditions that the builder reports on an owner.
//
// It takes a list of conditions, and either the [Outcome] of a pass whose plan has Report, or a [Failure] that overrides the plan's own
// conditions. It changes nothing but that list. Invariants:
//
//   - A condition's time changes with its status only, so that the same outcome changes nothing and causes no write.
//   - A pass without a failure removes the failure that an earlier pass has reported. Its reasons distinguish it from the plan's own
//     conditions.
package status
