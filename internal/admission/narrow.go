package admission

import (
	"fmt"
	"net/http"
	"path"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// narrowManager is a manager for the rotator of certificates, which would watch all Secrets of its namespace and all
// webhooks of the cluster. By this one it gets to see those of a name, so that it needs no permission for the others.
type narrowManager struct {
	ctrl.Manager
	config *rest.Config
	client client.Client
}

// newNarrowManager limits what is listed and watched to the names by resource. Writes don't go by the manager's client: its
// cache has neither kind, and it would wait to see there what it wrote.
func newNarrowManager(mgr ctrl.Manager, names map[string]string) (narrowManager, error) {
	c, err := client.New(mgr.GetConfig(), client.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
	})
	if err != nil {
		return narrowManager{}, fmt.Errorf("client for certificates: %w", err)
	}
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return byName{names, next} })
	return narrowManager{mgr, config, c}, nil
}

// GetConfig returns the connection of the rotator's cache.
func (m narrowManager) GetConfig() *rest.Config { return m.config }

// GetClient returns what the rotator writes with.
func (m narrowManager) GetClient() client.Client { return m.client }

// byName asks for one object where all of its resource are asked for.
type byName struct {
	names map[string]string // by resource
	next  http.RoundTripper
}

// RoundTrip sends the request.
func (b byName) RoundTrip(r *http.Request) (*http.Response, error) {
	if name, ok := b.names[path.Base(r.URL.Path)]; ok && r.Method == http.MethodGet {
		r = r.Clone(r.Context())
		query := r.URL.Query()
		query.Set("fieldSelector", "metadata.name="+name)
		r.URL.RawQuery = query.Encode()
	}
	return b.next.RoundTrip(r)
}
