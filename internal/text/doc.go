// Package text makes sentences of limited length, for conditions, events and records.
//
// It takes texts and limits in bytes, and returns texts.
//
// Invariant: a text is cut only between characters, and shows that it was cut.
package text
