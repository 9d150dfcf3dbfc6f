// Package text writes sentences of a bounded length, for conditions, events and records.
//
// It takes texts and limits in bytes, and returns texts. Invariant: a text is cut between characters only, and shows that it was cut.
package text
