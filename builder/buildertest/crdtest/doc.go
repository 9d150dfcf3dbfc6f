// Package crdtest finds what a CRD admits and its Go type can't read.
//
// The API server checks a custom resource against the schema of its CRD, and never decodes it into a Go type. The operator does, and a
// list or a watch whose decoding fails at one object delivers none: everyone who may create one such object, in any namespace, stops the
// operator for everyone. The schema that controller-gen generates is wider than the Go types in three places:
//
//   - "format: date-time" admits 2014-12-15t08:00:00z, which [metav1.Time] doesn't read.
//   - "x-kubernetes-int-or-string" admits 99999999999, which [intstr.IntOrString] doesn't read.
//   - The pattern of [resource.Quantity] admits 1E1.5, which it doesn't read, and 1E-999999999, which it reads for hours.
//
// [Check] fails the test of an operator for each of them:
//
//	crdtest.Check(t, scheme, "../charts/backup/crds")
//
// The remedy is to narrow the schema: a pattern for a time, a pattern and maxLength for a quantity, minimum and maximum for a number or
// text. The tool tools/trimcrd does that to generated CRDs. The projects of "armature new" run it:
//
//	//go:generate go tool trimcrd charts/backup/crds
package crdtest
