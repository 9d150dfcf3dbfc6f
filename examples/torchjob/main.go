// Command torchjob is an operator written with the engine of replica jobs, and a distributed program that it runs:
//
//	torchjob        run the operator, on the cluster of your kubeconfig
//	torchjob rank   run one rank; this is what the operator's pods do
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/program"
	"github.com/armature-dev/armature/examples/torchjob/allreduce"
	v1 "github.com/armature-dev/armature/examples/torchjob/api/v1"
	"github.com/armature-dev/armature/examples/torchjob/operator"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 || args[0] != "rank" {
		program.Main(program.Options{Name: "torchjob", AddToScheme: v1.AddToScheme, Setup: operator.Setup})
	}
	if err := rank(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "torchjob:", err)
		os.Exit(1)
	}
}

func rank(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("rank: unexpected argument %q", args[0])
	}
	return allreduce.Run(ctrl.SetupSignalHandler())
}
