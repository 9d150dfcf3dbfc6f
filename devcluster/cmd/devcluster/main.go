// Command devcluster runs a real Kubernetes cluster on this machine, from one binary and without root.
package main

import (
	"os"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/cli"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode"
)

// The binary is also each component of the cluster, and the small process above each container; neither must
// go through the command line for people.
func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case localnode.ShimCommand:
			os.Exit(localnode.Shim(os.Args[2:]))
		case component.Command:
			os.Exit(component.Main(os.Args[2:]))
		}
	}
	os.Exit(cli.Main())
}
