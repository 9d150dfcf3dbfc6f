package install

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// verbs is what managers have asked of the API server, such as "update secrets", through a proxy.
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
		for _, p := range rbac.OfRequest(r) {
			v.asked[p.String()] = true
		}
		v.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { listening.CloseClientConnections(); listening.Close() })
	return listening.URL
}

// unused returns which verbs of the managers' own roles, rather than of their operators', nobody has asked for.
func (v *verbs) unused(t *testing.T) []string {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	var unused []string
	for _, file := range ownRoles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, verb := range verbsOf(t, text) {
			if !v.asked[verb] && verb != "patch events" { // of an event that is repeated
				unused = append(unused, filepath.Base(file)+": "+verb)
			}
		}
	}
	return unused
}

// ownRoles are the files of the managers' own roles.
func ownRoles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(binary.Root(t), "charts/armature/files/rbac/[mw][ae][nb]*.yaml")) // manager-, webhook-
	require.NoError(t, err)
	require.Len(t, files, 6)
	return files
}

// verbsOf returns what a role allows, in order, as requests are noted.
func verbsOf(t *testing.T, text []byte) (allowed []string) {
	t.Helper()
	role := rbacv1.ClusterRole{} // or a Role, which is no different here
	require.NoError(t, yaml.UnmarshalStrict(text, &role))
	for _, rule := range role.Rules {
		require.Empty(t, rule.NonResourceURLs, "such requests aren't noted")
	}
	for _, p := range rbac.Permissions(role.Rules) {
		p.Name = ""
		allowed = append(allowed, p.String())
	}
	slices.Sort(allowed)
	return allowed
}

// The lint would see any verb of any of the roles that nothing uses, and one that is added.
func TestUnusedVerbsAreSeen(t *testing.T) {
	all := &verbs{asked: map[string]bool{}}
	for _, file := range ownRoles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		allowed := verbsOf(t, text)
		require.NotEmpty(t, allowed, file)
		for _, verb := range allowed {
			all.asked[verb] = true
		}
	}
	require.Empty(t, all.unused(t))
	for verb := range all.asked {
		one := &verbs{asked: maps.Clone(all.asked)}
		delete(one.asked, verb)
		if verb != "patch events" {
			assert.NotEmpty(t, one.unused(t), verb)
		}
	}
	assert.Equal(t, []string{"* secrets", "get pods/log", "get pods/log.apps", "list secrets"}, verbsOf(t, []byte(
		`{rules: [{apiGroups: [""], resources: [secrets], verbs: [list, "*"]}, {apiGroups: ["", apps], resources: [pods/log], verbs: [get]}]}`)))
}
