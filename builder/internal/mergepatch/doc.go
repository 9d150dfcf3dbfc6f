// Package mergepatch computes JSON merge patches (RFC 7396).
//
// It takes two objects as decoded from JSON and returns the patch from one to the other. It changes neither. Numbers keep their type:
// a change of an int64 above 2^53 by one is in the patch. jsonpatch.CreateMergePatch loses it, because it decodes all numbers as
// float64.
//
// Invariant: the patch, applied to the first object, yields the second, unless the second has a null, which RFC 7396 can't say.
package mergepatch
