// Command kvstore is an operator written with Armature's DSOI engine, and the distributed store that it runs:
//
//	kvstore                                 run the operator, on the cluster of your kubeconfig
//	kvstore preview                         show what this build of the operator would change
//	kvstore coordinator|storage|gateway     run a node of a store; this is what the operator's pods do
//	kvstore put|get|load NAMESPACE STORE    use a store
//
// The operator has the flags of package program: --undo is for armature undo kvstore/demo, and --rollout-max-owners for upgrades of many
// stores.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/program"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	"github.com/armature-dev/armature/examples/kvstore/store"
)

func main() {
	args := os.Args[1:]
	use := store.RunCommand
	switch {
	case len(args) > 0 && slices.Contains(store.Types, args[0]):
		use = func(ctx context.Context, args []string) error { return store.RunNode(ctx, args[0]) }
	case len(args) == 0 || !slices.Contains(store.Commands, args[0]):
		program.Main(program.Options{Name: "kvstore", AddToScheme: v1.AddToScheme, Setup: setup, Cache: operator.Cache()})
	}
	if err := use(ctrl.SetupSignalHandler(), args); err != nil {
		fmt.Fprintln(os.Stderr, "kvstore:", err)
		os.Exit(1)
	}
}

func setup(mgr manager.Manager) error { return operator.Setup(mgr, os.Getenv("KVSTORE_PROGRAMS")) }
