// Command torchjob is an operator written with the engine of replica jobs, and a distributed program that it runs:
//
//	torchjob        run the operator, on the cluster of your kubeconfig
//	torchjob rank   run one rank; this is what the operator's pods do
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/examples/torchjob/allreduce"
	v1 "github.com/armature-dev/armature/examples/torchjob/api/v1"
	"github.com/armature-dev/armature/examples/torchjob/operator"
)

func main() {
	run := operate
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		run = allreduce.Run
	}
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "torchjob:", err)
		os.Exit(1)
	}
}

func operate(ctx context.Context) error {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	if err := v1.AddToScheme(scheme.Scheme); err != nil { // the default scheme of a manager
		return err
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		// A pass sees the writes of the pass before it; pod groups of gang schedulers have no Go types.
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true), Unstructured: true}},
	})
	if err != nil {
		return err
	}
	if err := operator.Setup(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
