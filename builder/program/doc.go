// Package program is the main function of a program with operators: the flags, the manager, the metrics, the health, and three commands.
//
//	func main() {
//		program.Main(program.Options{Name: "backup", AddToScheme: v1.AddToScheme, Setup: operator.Setup})
//	}
//
// The program then is
//
//	backup             run the operators, until a signal ends the program
//	backup preview     show what this version would change in the cluster, and write nothing: see package preview
//	backup role        write the role of the operators, from their declarations: see package rbac
//
// Each command prints its flags with -h. An operator runs one pass at a time, unless its controller.Options say otherwise.
//
// Users pause an object by its annotation armature.dev/paused. With the flag --rollout-max-owners a new version of the program disrupts
// existing objects in turns (package release), with --undo users can take a disruptive change back (package undo), with --record-bytes the
// program records its passes (package record), and with --state-dir it postpones an object that ends it (package quarantine). The commands
// of armature (pause, rollout, undo, record) control them. The program needs the permissions that these packages name.
//
// A program with other needs has a main function of its own: everything here is in other packages.
package program
