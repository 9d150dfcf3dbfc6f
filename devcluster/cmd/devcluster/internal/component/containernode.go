package component

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
)

// newContainerNodeCommand is a node that runs containers: its process outside of the node's namespaces.
func newContainerNodeCommand() *cobra.Command {
	return containerNodeCommand(ContainerNode, func(cmd *cobra.Command, c containernode.Config) error {
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		// Only the process inside keeps the lock: it is the last one of the node.
		lock := os.NewFile(lockFD, "lock")
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		return containernode.Run(ctx, c, append([]string{exe, Command, containerNodeInside}, NodeFlags(c)...), lock)
	})
}

// newContainerNodeInsideCommand is the first process in the node's namespaces.
func newContainerNodeInsideCommand() *cobra.Command {
	return containerNodeCommand(containerNodeInside, func(cmd *cobra.Command, c containernode.Config) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		return containernode.RunInside(ctx, c)
	})
}

func containerNodeCommand(name string, run func(*cobra.Command, containernode.Config) error) *cobra.Command {
	var c containernode.Config
	cmd := &cobra.Command{
		Use:          name,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(cmd *cobra.Command, _ []string) error { return run(cmd, c) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Name, "name", "", "name of the node")
	flags.IntVar(&c.Number, "number", 1, "its number among the nodes, from 1")
	flags.IntVar(&c.Nodes, "nodes", 1, "how many nodes there are")
	flags.StringVar(&c.Dir, "dir", "", "where the node has its files")
	flags.StringVar(&c.Binaries, "binaries", "", "where the programs are")
	flags.StringVar(&c.Cgroup, "cgroup", "", "parent of the nodes' cgroups")
	return cmd
}

// NodeFlags are the flags of the component ContainerNode.
func NodeFlags(c containernode.Config) []string {
	return []string{
		"--name=" + c.Name,
		"--number=" + strconv.Itoa(c.Number),
		"--nodes=" + strconv.Itoa(c.Nodes),
		"--dir=" + c.Dir,
		"--binaries=" + c.Binaries,
		"--cgroup=" + c.Cgroup,
	}
}
