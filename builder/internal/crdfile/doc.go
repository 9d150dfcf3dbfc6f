// Package crdfile reads CustomResourceDefinitions from YAML files.
//
// It takes files and directories, and a type that has the fields of a definition that the caller needs. It returns the definitions in the
// order of their files. Other documents are left out, such as the patches of a kustomization, which name no kind.
//
// Invariant: a path without a definition is an error, because a caller would otherwise know nothing of its kinds, and say nothing.
package crdfile
