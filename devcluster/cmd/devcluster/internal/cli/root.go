package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

// errSilent is a failure that has been told already.
var errSilent = errors.New("failed")

// Main runs the command line and returns the exit code.
func Main() int {
	// Kubernetes packages put flags of their own, such as a --version that is no bool, where cobra picks them
	// up for every program.
	pflag.CommandLine = pflag.NewFlagSet("devcluster", pflag.ContinueOnError)
	err := newRoot().Execute()
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSilent) {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
	}
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "devcluster",
		Short: "A real Kubernetes cluster on this machine, from one binary",
		Long: `devcluster runs etcd, the Kubernetes API server, controller manager and scheduler as processes of this
machine, with nodes that run containers as local processes (--nodes) and simulated nodes (--fake-nodes).
It needs no container runtime and no root, listens on 127.0.0.1 only, and keeps everything in one directory.`,
		Version:       component.KubernetesVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("devcluster with Kubernetes {{.Version}}\n")
	root.AddCommand(newUp(), newDown(), newDelete(), newStatus(), newKubectl(), newExec(), newLoad())
	return root
}

// dirFlag adds --dir and returns a function that resolves it.
func dirFlag(cmd *cobra.Command) func() (clusterdir.Dir, error) {
	path := cmd.Flags().String("dir", "", "the cluster's directory (default "+clusterdir.DefaultName+" in the working directory)")
	return func() (clusterdir.Dir, error) {
		if cmd.Flags().Changed("dir") && *path == "" {
			return "", errors.New("--dir is empty")
		}
		return clusterdir.New(*path)
	}
}
