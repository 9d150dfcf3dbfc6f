// Package crdfile reads CustomResourceDefinitions from YAML files.
//
// It takes files and directories, and a type that has the fields of a definition that the caller needs. It returns the definitions in the
// order of their files, and leaves out other documents.
//
// Invariant: a path without a definition is an error, because the caller would otherwise know none of its kinds.
package crdfile
