// Package delta compares two objects field by field, and removes fields from an object. Objects are as decoded from JSON.
//
// [Between] takes two objects and returns their differences. [Remove] takes an object and sets of fields, and changes the object.
//
// Invariant: equal objects have no differences. Objects without differences are equal but for the order of lists whose elements have a key,
// and for nulls.
package delta
