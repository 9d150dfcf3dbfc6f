package managercmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/builder/undo"
	"github.com/armature-dev/armature/cmd/armature/internal/kindmetrics"
	"github.com/armature-dev/armature/internal/admission"
	"github.com/armature-dev/armature/internal/running"
	"github.com/armature-dev/armature/internal/statedir"
)

// leaseName is the default name of the lease that managers compete for.
const leaseName = "armature-manager"

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// run runs the operators until ctx ends.
func run(ctx context.Context, o options, logger logr.Logger) error {
	if err := o.validate(); err != nil {
		return err
	}
	limitMemory(memlimit.FromCgroup, logger)
	operators, err := selectOperators(o.operators)
	if err != nil {
		return err
	}
	certificate, err := webhookCertificate(o)
	if err != nil {
		return err
	}
	leftOut, err := leaveOut(ctx, o, operators, logger)
	if err != nil {
		return err
	}
	o.leftOut = leftOut.Names
	mgr, lost, err := newManager(o, certificate, logger)
	if err != nil {
		return err
	}
	if err := mgr.Add(leftOut); err != nil {
		return err
	}
	if err := awaitKinds(ctx, mgr, operators, logger); err != nil {
		if ctx.Err() != nil {
			logger.Info("stopped before the CRDs were there")
			return nil
		}
		return err
	}
	mgr, ended, err := statedir.Quarantined(mgr, o.stateDir)
	if err != nil {
		return err
	}
	defer ended()
	if mgr, err = recorded(mgr, o); err != nil {
		return err
	}
	build, err := release.Build(o.planFlags...)
	if err != nil {
		return fmt.Errorf("identify the program's build: %w", err)
	}
	if mgr, err = inTurns(mgr, o, build); err != nil {
		return err
	}
	var kinds []client.Object
	for _, op := range operators {
		with := mgr
		if op.undo && o.undo {
			if with, err = undo.Around(mgr, undo.Options{Build: build}); err != nil {
				return err
			}
		}
		if err := op.setup(with, o); err != nil {
			return fmt.Errorf("set up the operator %s: %w", op.name, err)
		}
		kinds = append(kinds, op.runs)
	}
	if err := kindmetrics.Watch(ctx, mgr, kinds...); err != nil {
		return err
	}
	if o.webhook {
		if err := addWebhook(mgr, certificate, o.webhookClients()); err != nil {
			return err
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("cache", running.CacheReady(mgr)); err != nil {
		return err
	}
	logger.Info("starting", "cluster", mgr.GetConfig().Host, "leaderElection", o.leaderElect, "selector", o.selector)
	switch err := running.Run(ctx, mgr, lost); {
	case errors.Is(err, running.ErrLost):
		return errLeaseLost
	case errors.Is(err, running.ErrNeverFilled):
		logger.Info(err.Error())
		return nil
	default:
		return err
	}
}

// newManager returns the manager, and what is closed when another one leads in its place.
func newManager(o options, certificate *admission.SelfManaged, logger logr.Logger) (ctrl.Manager, <-chan struct{}, error) {
	cfg, err := restConfig(o)
	if err != nil {
		return nil, nil, err
	}
	shard, err := o.shard()
	if err != nil {
		return nil, nil, err
	}
	var lock resourcelock.Interface
	var lost <-chan struct{}
	if o.leaderElect {
		namespace, err := ownNamespace(o)
		if err != nil {
			return nil, nil, err
		}
		scope, err := o.scope()
		if err != nil {
			return nil, nil, err
		}
		fence, err := o.lease.lock(cfg, namespace, o.leaderElectName, scope)
		if err != nil {
			return nil, nil, fmt.Errorf("prepare leader election: %w", err)
		}
		fence.around(cfg)
		lock, lost = fence, fence.lost
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                              newScheme(),
		Logger:                              logger,
		Metrics:                             metricsOptions(o),
		HealthProbeBindAddress:              o.healthAddress,
		PprofBindAddress:                    o.pprofAddress,
		WebhookServer:                       webhookServer(o, certificate), // which starts when something is registered
		LeaderElection:                      o.leaderElect,
		LeaderElectionID:                    o.leaderElectName,
		LeaderElectionResourceLockInterface: lock,
		LeaseDuration:                       &o.lease.duration,
		RenewDeadline:                       &o.lease.renewDeadline,
		RetryPeriod:                         &o.lease.retryPeriod,
		// The process ends when the manager does, so the next one may lead at once.
		LeaderElectionReleaseOnCancel: true,
		Controller:                    config.Controller{MaxConcurrentReconciles: o.concurrency},
		Cache: cache.Options{
			DefaultNamespaces: onlyNamespaces(o.namespaces()), ByObject: cached(shard), DefaultWatchErrorHandler: o.watchFailed,
		},
		// A pass must see the writes of the pass before it: what it doesn't see, it would want again.
		// The pod groups of gang schedulers have no Go types.
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true), Unstructured: true}},
	})
	return mgr, lost, err
}

// restConfig says how to reach the cluster. Client-go's own limit of 5 requests a second is made for people; the API
// server has fair queues for controllers.
func restConfig(o options) (*rest.Config, error) {
	cfg, err := o.kube.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	cfg.QPS = o.qps
	if o.qps > 0 {
		cfg.Burst = cmp.Or(o.burst, int(math.Ceil(float64(o.qps)*1.5)))
	}
	cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	return cfg, nil
}

// onlyNamespaces limits caches to namespaces. None means all.
func onlyNamespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	only := make(map[string]cache.Config, len(names))
	for _, name := range names {
		only[name] = cache.Config{}
	}
	return only
}
