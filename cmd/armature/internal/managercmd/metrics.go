package managercmd

import (
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsOptions says how metrics are served: to those whom the API server knows and lets read them, unless a flag opens
// them to everyone.
func metricsOptions(o options) server.Options {
	options := server.Options{BindAddress: o.metricsAddress, CertDir: o.metricsCertDir}
	if !o.metricsSecure {
		return options
	}
	options.SecureServing = true
	options.FilterProvider = func(cfg *rest.Config, c *http.Client) (server.Filter, error) {
		clientset, err := kubernetes.NewForConfigAndClient(cfg, c)
		if err != nil {
			return nil, fmt.Errorf("ask the API server who may read metrics: %w", err)
		}
		asked := newGate(clientset, clock.RealClock{})
		return func(logger logr.Logger, next http.Handler) (http.Handler, error) {
			return asked.guard(logger, next), nil
		}, nil
	}
	return options
}
