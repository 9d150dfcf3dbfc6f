package component

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	_ "time/tzdata" // time zones of CronJobs, where the machine has none
)

// The components, by the names used in flags, files and messages.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	LocalNodes        = "local-nodes"
	FakeNodes         = "fake-nodes"
	CoreDNS           = "coredns"
	// ContainerNode is the program of each node that runs containers.
	ContainerNode = "container-node"
	// Program is the program of components that are programs of their own.
	Program = "program"

	containerNodeInside = "container-node-inside"
)

// NodeComponent is the name of the component that runs the node with this name, with containers.
func NodeComponent(node string) string { return "node." + node }

// Command is the hidden subcommand that runs a component: `devcluster component NAME FLAGS`.
const Command = "component"

// The real programs are built by a function, because building one has effects on the whole process.
var programs = map[string]func() int{
	Etcd:              func() int { return execute(newEtcdCommand()) },
	APIServer:         runAPIServer,
	ControllerManager: func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	Scheduler:         func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	LocalNodes:        func() int { return execute(newLocalNodesCommand()) },
	FakeNodes:         func() int { return execute(newFakeNodesCommand()) },
	ContainerNode:     func() int { return execute(newContainerNodeCommand()) },
	Program:           func() int { return execute(newProgramCommand()) },

	containerNodeInside: func() int { return execute(newContainerNodeInsideCommand()) },
}

// Main runs the component named by args[0] with the flags that follow, and returns the exit code.
func Main(args []string) int {
	if len(args) == 0 || programs[args[0]] == nil {
		fmt.Fprintf(os.Stderr, "devcluster %s: name one of %s\n", Command, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		return 2
	}
	exitWithSupervisor()
	// Cobra, and kwok's configuration on its own, read the flags from os.Args.
	os.Args = args
	return programs[args[0]]()
}

func execute(cmd *cobra.Command) int {
	cmd.SilenceErrors = true
	if err := cmd.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}
