// Package delta compares two objects field by field. Objects are as decoded from JSON.
//
// [Between] takes two objects, returns their differences, and changes neither.
//
// Invariant: equal objects have no differences. Objects without differences are equal but for the order of lists whose elements have a key,
// and for nulls.
package delta
