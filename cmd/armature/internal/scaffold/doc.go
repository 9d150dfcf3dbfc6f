// Package scaffold writes the files of an operator's project: a Go module that builds, tests and runs.
//
// It takes a [Project] and a [Kind], which [Kind.Check] and [Project.Check] validate, and returns [File]s, or writes them into a directory.
// The templates are in templates, one for each file; everything that isn't particular to a project is in packages that the project
// imports. [FromCRD] reads a kind from a CustomResourceDefinition. [Open] reads a project that exists, to add a kind or to upgrade it.
//
// It runs no command: package newcmd does.
package scaffold
