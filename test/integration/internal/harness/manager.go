package harness

import (
	"context"
	"net/http"
	"sync"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Options are those of a manager that sees this namespace only. It serves no metrics, and its controllers may be in other managers
// of this process as well: tests run side by side, and start again what they stop.
func (p *Place) Options() ctrl.Options {
	return ctrl.Options{
		Scheme: p.Client.Scheme(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { // the discovery of one is enough
			return p.Client.RESTMapper(), nil
		},
		Metrics:    server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{p.Namespace: {}}},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
}

// NewManager makes a manager on a connection that the functions have changed.
func (p *Place) NewManager(connection *rest.Config, options ctrl.Options, change ...func(*rest.Config)) manager.Manager {
	p.T.Helper()
	for _, f := range change {
		f(connection)
	}
	mgr, err := ctrl.NewManager(connection, options)
	require.NoError(p.T, err)
	return mgr
}

// Start runs a manager until the test ends, or until stop is called, which returns when it has ended.
func (p *Place) Start(mgr manager.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			p.T.Errorf("manager: %v", err)
		}
	})
	p.T.Cleanup(stop)
	return stop
}
