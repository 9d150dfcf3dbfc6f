// Command kvstore is an operator written with Armature's DSOI engine, and the distributed store that it runs:
//
//	kvstore                                 run the operator, on the cluster of your kubeconfig
//	kvstore preview                         print as JSON what this build of the operator would change
//	kvstore coordinator|storage|gateway     run a node of a store; this is what the operator's pods do
//	kvstore put|get|load NAMESPACE STORE    use a store
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/builder/undo"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
	"github.com/armature-dev/armature/examples/kvstore/store"
)

func main() {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(ctrl.SetupSignalHandler(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kvstore:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		return operate(ctx, manager.Manager.Start)
	case args[0] == "preview":
		return operate(ctx, nil)
	case slices.Contains(store.Types, args[0]):
		return store.RunNode(ctx, args[0])
	default:
		return store.RunCommand(ctx, args)
	}
}

// operate sets the operator up, and starts it; without start it previews.
func operate(ctx context.Context, start func(manager.Manager, context.Context) error) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := v1.AddToScheme(scheme); err != nil {
		return err
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   operator.Cache(),
		// A pass sees the writes of the pass before it.
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	if err != nil {
		return err
	}
	programs := os.Getenv("KVSTORE_PROGRAMS")
	if start == nil {
		asked := preview.Around(mgr)
		if err := operator.Setup(asked, programs); err != nil {
			return err
		}
		report, err := asked.Run(ctx)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(report)
	}
	if mgr, err = undo.Around(mgr, undo.Options{}); err != nil { // armature undo kvstore/demo
		return err
	}
	if err := operator.Setup(mgr, programs); err != nil {
		return err
	}
	return start(mgr, ctx)
}
