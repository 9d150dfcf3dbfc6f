// Package delta computes the differences between two objects as decoded from JSON.
//
// Its functions take two objects and change neither. [Between] returns the differences for people, field by field, [MergePatch] a JSON
// merge patch (RFC 7396), and [JSONPatch] the operations of a JSON patch (RFC 6902).
//
// Invariants:
//   - Equal objects have no differences. Objects without differences in Between are equal but for the order of lists whose elements have
//     a key, and for nulls.
//   - A patch, applied to the first object, yields the second, unless the second has a null, which RFC 7396 can't say.
package delta
