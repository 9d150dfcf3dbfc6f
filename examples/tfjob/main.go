// Command tfjob is an operator written with the engine of replica jobs, and a distributed program that it runs:
//
//	tfjob        run the operator, on the cluster of your kubeconfig
//	tfjob rank   run one rank; this is what the operator's pods do
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/program"
	v1 "github.com/armature-dev/armature/examples/tfjob/api/v1"
	"github.com/armature-dev/armature/examples/tfjob/operator"
	"github.com/armature-dev/armature/examples/tfjob/train"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 || args[0] != "rank" {
		program.Main(program.Options{Name: "tfjob", AddToScheme: v1.AddToScheme, Setup: operator.Setup})
	}
	if err := rank(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tfjob:", err)
		os.Exit(1)
	}
}

func rank(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("rank: unexpected argument %q", args[0])
	}
	return train.Run(ctrl.SetupSignalHandler())
}
