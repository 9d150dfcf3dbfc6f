// Command webapp is an operator written with Armature, and the web server that it runs:
//
//	webapp         run the operator, on the cluster of your kubeconfig
//	webapp serve   run a web server; this is what the operator's pods do
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/operator"
	web "github.com/armature-dev/armature/examples/webapp/server"
)

func main() {
	flag.Parse() // controller-runtime's --kubeconfig
	run := operate
	if flag.Arg(0) == "serve" {
		run = web.Run
	}
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "webapp:", err)
		os.Exit(1)
	}
}

func operate(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
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
		// A pass sees the writes of the pass before it.
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	if err != nil {
		return err
	}
	if err := operator.Setup(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
