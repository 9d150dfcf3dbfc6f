// Package status has what the builder writes into an owner's status: the standard conditions, and the patch between two statuses.
//
// The conditions are set in a list, from either the [Outcome] of a pass whose plan has Report, or a [Failure] that overrides the plan's
// own conditions. [Patch] takes the owner before and after that, and so does [Diff], for people.
//
// Invariants:
//
//   - A condition's time changes with its status only, so that the same outcome changes nothing and causes no write.
//   - A pass without a failure removes the failure that an earlier pass has reported. Its reasons distinguish it from the plan's own
//     conditions.
//   - Nothing but the given list of conditions changes.
package status
