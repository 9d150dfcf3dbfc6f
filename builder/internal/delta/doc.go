// Package delta compares two objects field by field, and removes fields from an object. Objects are as decoded from JSON.
//
// [Between] takes two objects and returns their differences. [Remove] takes an object and sets of fields, and changes the object.
//
// Invariant: two objects are equal if, and only if, they have no differences.
package delta
