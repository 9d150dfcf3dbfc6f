// Package mergepatch computes JSON merge patches (RFC 7396).
//
// It takes two objects as decoded from JSON and returns the patch from one to the other; it changes neither. Numbers stay what
// they are: an int64 above 2^53 that changes by one is in the patch, which jsonpatch.CreateMergePatch loses, because it decodes
// all numbers as float64.
package mergepatch
