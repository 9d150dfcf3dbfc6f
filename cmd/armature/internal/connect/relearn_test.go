package connect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// kindsServer is the discovery of an API server whose groups have the kind Thing.
type kindsServer struct {
	mu       sync.Mutex
	groups   []string
	broken   string
	requests int
}

func (k *kindsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests++
	var answer any
	switch r.URL.Path {
	case "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}}
	case "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range k.groups {
			version := metav1.GroupVersionForDiscovery{GroupVersion: group + "/v1", Version: "v1"}
			list.Groups = append(list.Groups, metav1.APIGroup{
				Name: group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
			})
		}
		answer = list
	case "/apis/" + k.broken + "/v1":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	default:
		answer = metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: r.URL.Path[len("/apis/"):],
			APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Verbs: []string{"list"}}},
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (k *kindsServer) has(broken string, groups ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.groups, k.broken, k.requests = groups, broken, 0
}

func (k *kindsServer) asked() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.requests
}

// A command that runs for long, or the page, finds kinds that are installed after its start, and groups that were unavailable then. It
// doesn't ask at each look for a kind that there isn't.
func TestKindsAreLearntAgain(t *testing.T) {
	kinds := &kindsServer{}
	server := httptest.NewServer(kinds)
	t.Cleanup(server.Close)
	flags := Flags()
	flags.APIServer, flags.CacheDir, flags.KubeConfig = &server.URL, new(t.TempDir()), new("/dev/null")
	for name, open := range map[string]func() (*Cluster, error){
		"flags":  func() (*Cluster, error) { return Open(flags) },
		"config": func() (*Cluster, error) { return ForConfig(&rest.Config{Host: server.URL}) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := open()
			require.NoError(t, err)
			mapper := c.Client.RESTMapper()
			later := func() { mapper.(learningMapper).at = time.Now().Add(-relearnAfter) }
			find := func(group string) error {
				_, err := mapper.RESTMapping(schema.GroupKind{Group: group, Kind: "Thing"})
				return err
			}
			failedGroups := func() int {
				_, err := c.Discovery.ServerPreferredResources()
				failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
				assert.True(t, err == nil || isPartial, err)
				return len(failed)
			}
			kinds.has("", "a.com")
			require.NoError(t, find("a.com"))
			require.True(t, meta.IsNoMatchError(find("b.com")))
			kinds.has("", "a.com", "b.com")
			require.True(t, meta.IsNoMatchError(find("b.com")))
			require.NoError(t, find("a.com"))
			assert.Zero(t, kinds.asked(), "it has asked a moment ago")
			later()
			require.NoError(t, find("a.com"))
			assert.Zero(t, kinds.asked(), "no kind is missing")
			require.NoError(t, find("b.com"))

			kinds.has("c.com", "a.com", "b.com", "c.com")
			later()
			require.True(t, meta.IsNoMatchError(find("c.com")))
			assert.Equal(t, 1, failedGroups())
			kinds.has("", "a.com", "b.com", "c.com")
			later()
			assert.Zero(t, failedGroups())
			require.NoError(t, find("c.com"))

			kinds.has("", "a.com", "d.com")
			later()
			lists, err := c.Discovery.ServerPreferredResources()
			require.NoError(t, err)
			assert.Len(t, lists, 2, "a group that is new since then, although nothing missed it")
			kinds.has("", "a.com", "e.com")
			c.Discovery.(discovery.CachedDiscoveryInterface).Invalidate()
			require.NoError(t, find("e.com"), "the mapper asks anew, too")
		})
	}
}
