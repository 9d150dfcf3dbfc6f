package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/internal/running"
)

// operate runs the operators.
func (o Options) operate(ctx context.Context, scheme *runtime.Scheme, args []string, _ io.Writer) error {
	settings := ctrl.Options{LeaderElectionID: o.Name, LeaderElectionReleaseOnCancel: true}
	flags := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	config.RegisterFlags(flags)
	namespaces := namespacesFlag(flags)
	flags.StringVar(&settings.Metrics.BindAddress, "metrics-bind-address", ":8080", "`address` of the metrics; 0 for none")
	flags.StringVar(&settings.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz; 0 for none")
	flags.BoolVar(&settings.LeaderElection, "leader-elect", false, "let one of several processes run the operators")
	flags.StringVar(&settings.LeaderElectionNamespace, "leader-elect-namespace", "", "`namespace` of the lease (default: that of the pod)")
	var with features
	with.addTo(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	watched, err := split(*namespaces)
	if err != nil {
		return err
	}
	leftOut, err := o.leaveOut(ctx, scheme, watched)
	if err != nil {
		return err
	}
	watched = slices.DeleteFunc(watched, func(name string) bool { return slices.Contains(leftOut.Names, name) })
	mgr, err := o.manager(scheme, watched, settings)
	if err != nil {
		return err
	}
	err = errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("cache", running.CacheReady(mgr)), mgr.Add(leftOut))
	if err != nil {
		return err
	}
	featured, ended, err := with.around(mgr, o.Name, settings.LeaderElectionNamespace)
	if err != nil {
		return err
	}
	defer ended()
	if err := o.Setup(featured); err != nil {
		return err
	}
	err = running.Run(ctx, mgr, nil)
	if errors.Is(err, running.ErrNeverFilled) {
		return nil
	}
	return err
}

func namespacesFlag(flags *flag.FlagSet) *string {
	return flags.String("watch-namespaces", "", "`namespaces` of the owners and of their children, separated by commas (default: all)")
}

// split returns the namespaces of the flag.
func split(namespaces string) ([]string, error) {
	if namespaces == "" {
		return nil, nil
	}
	names := strings.Split(namespaces, ",")
	for _, name := range names {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 { // an empty name would mean all namespaces
			return nil, fmt.Errorf("-watch-namespaces: %q can't be a namespace's name: %s", name, problems[0])
		}
	}
	return names, nil
}

// manager returns a manager for the cluster of the kubeconfig and some namespaces, or all.
func (o Options) manager(scheme *runtime.Scheme, namespaces []string, settings ctrl.Options) (manager.Manager, error) {
	settings.Scheme, settings.Cache = scheme, o.Cache
	if len(namespaces) > 0 {
		settings.Cache.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, name := range namespaces {
		settings.Cache.DefaultNamespaces[name] = cache.Config{}
	}
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1 // the API server has fair queues; client-go's limit is made for people
	// A pass sees the writes of the pass before it.
	settings.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true), Unstructured: true}
	return ctrl.NewManager(cfg, settings)
}

// quiet are the settings of a manager that serves nothing.
func quiet() ctrl.Options {
	return ctrl.Options{Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"}
}
