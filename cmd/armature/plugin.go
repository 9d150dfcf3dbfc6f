package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

// The names by which kubectl finds the program: as the command "kubectl armature", and to complete its arguments.
const (
	pluginName     = "kubectl-armature"
	completionName = "kubectl_complete-armature"
)

// asCalled makes the command what the name says by which the program was called, and returns its arguments.
func asCalled(root *cobra.Command, name string, args []string) []string {
	switch filepath.Base(name) {
	case pluginName, pluginName + ".exe":
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl armature"}
	case completionName, completionName + ".exe":
		return append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return args
}
