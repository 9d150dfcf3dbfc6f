package install

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// verbs is what managers have asked of the API server, such as "update secrets.", through a proxy.
type verbs struct {
	mu    sync.Mutex
	asked map[string]bool
}

// through returns the address of a proxy of the API server that notes what is asked.
func (v *verbs) through(t *testing.T) (address string) {
	t.Helper()
	config := rest.AnonymousClientConfig(testcluster.Config(t)) // who asks brings a token
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	server, err := url.Parse(config.Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.Transport, proxy.FlushInterval = transport, -1 // what is watched comes bit by bit
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	listening := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		for _, verb := range testcluster.VerbsOf(r) {
			v.asked[verb] = true
		}
		v.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	return listening.URL
}

// unused returns which verbs of the managers' own roles, rather than of their operators', nobody has asked for.
func (v *verbs) unused(t *testing.T) (unused []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(binary.Root(t), "charts/armature/files/rbac/[mw][ae][nb]*.yaml")) // manager-, webhook-
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		role := rbacv1.ClusterRole{} // or a Role, which is no different here
		require.NoError(t, yaml.Unmarshal(text, &role))
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					what := verb + " " + resource + "." + rule.APIGroups[0]
					if !v.asked[what] && what != "patch events." { // of an event that is repeated
						unused = append(unused, filepath.Base(file)+": "+what)
					}
				}
			}
		}
	}
	slices.Sort(unused)
	return unused
}
