package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/bench/internal/jobs"
	"github.com/armature-dev/armature/bench/internal/peers"
	"github.com/armature-dev/armature/bench/internal/plans"
	"github.com/armature-dev/armature/bench/internal/replicas"
	"github.com/armature-dev/armature/bench/internal/tenants"
)

// benchmark is a subcommand. It gets the arguments after its name.
type benchmark struct {
	name, about string
	run         func(ctx context.Context, args []string) error
}

var benchmarks = []benchmark{
	{"builder", "one pass over N Deployments, side by side with the builder's peers", peers.Main},
	{"plans", "the operators' plans by themselves", plans.Main},
	{"jobs", "JobFlow and DaemonJob, side by side with a client that makes the same Jobs", jobs.Main},
	{"tenants", "what a tenant's attacks on the manager do to another tenant, and to the manager", tenants.Main},
	{"replicas", "ReplicaJob, side by side with kubeflow/common and with a client that makes the same pods", replicas.Main},
}

func main() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if len(os.Args) > 1 {
		for _, b := range benchmarks {
			if b.name == os.Args[1] {
				if err := b.run(ctx, os.Args[2:]); err != nil {
					fmt.Fprintf(os.Stderr, "bench %s: %v\n", b.name, err)
					os.Exit(1)
				}
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: go run . BENCHMARK [flags]; -h after its name lists the flags")
	for _, b := range benchmarks {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", b.name, b.about)
	}
	os.Exit(2)
}
