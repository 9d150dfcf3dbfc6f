package builder_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/test/testcluster"
)

const goneGroup = "gone.test.armature.dev"

func visitor(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	u.SetAPIVersion(goneGroup + "/v1")
	u.SetKind("Visitor")
	u.SetName(name)
	return u
}

func visitorCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "visitors." + goneGroup},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: goneGroup, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Visitor", ListKind: "VisitorList", Plural: "visitors", Singular: "visitor"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}

// visitors is an owner with twenty children of a kind that comes and goes, and one of another kind.
type visitors struct {
	*world
	clock    *buildertest.Clock
	lists    *discovery.DiscoveryClient // as someone else
	requests atomic.Int32               // about the kind, discovery included
}

func newVisitors(t *testing.T) *visitors {
	g := &visitors{world: &world{t: t, ctx: t.Context(), ns: testcluster.Namespace(t), told: &recorder{}}, clock: buildertest.NewClock()}
	scheme := testScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	var err error
	g.live, err = client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	g.lists, err = discovery.NewDiscoveryClientForConfig(testcluster.Config(t))
	require.NoError(t, err)
	cfg := testcluster.Config(t)
	cfg.QPS = -1
	cfg.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, goneGroup) || r.URL.Path == "/apis" || r.URL.Path == "/api" {
				g.requests.Add(1)
			}
			return next.RoundTrip(r)
		})
	}
	c, err := client.New(cfg, client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	g.engine = buildertest.NewEngine(c, builder.Options{Name: "tester", Recorder: g.told}, buildertest.EngineOptions{Clock: g.clock.Now})
	g.owner = g.newOwner("owner")
	t.Cleanup(func() { g.uninstall() })
	return g
}

func (g *visitors) install() {
	g.t.Helper()
	require.NoError(g.t, g.live.Create(g.ctx, visitorCRD()))
	g.eventually(func() bool {
		err := g.live.Get(g.ctx, client.ObjectKey{Namespace: g.ns, Name: "none"}, visitor("none"))
		return g.isListed(true) && apierrors.IsNotFound(err) && strings.Contains(err.Error(), `"none" not found`)
	}, "the kind to be served")
}

func (g *visitors) uninstall() {
	ctx := context.WithoutCancel(g.ctx)
	_ = g.live.Delete(ctx, visitorCRD())
	g.eventually(func() bool {
		gone := apierrors.IsNotFound(g.live.Get(ctx, client.ObjectKeyFromObject(visitorCRD()), visitorCRD()))
		err := g.live.Get(ctx, client.ObjectKey{Namespace: g.ns, Name: "none"}, visitor("none"))
		return gone && g.isListed(false) && err != nil && !strings.Contains(err.Error(), `"none" not found`)
	}, "the kind to be gone")
}

// isListed reports whether both lists of the API server agree that the kind is there, or isn't: they follow its handler, each on its own.
func (g *visitors) isListed(expected bool) bool {
	groups, err := g.lists.ServerGroups()
	if err != nil {
		return false
	}
	group := slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == goneGroup })
	kinds, err := g.lists.ServerResourcesForGroupVersion(goneGroup + "/v1")
	kind := err == nil && len(kinds.APIResources) > 0
	return group == expected && kind == expected
}

// pass returns how many requests about the kind it made.
func (g *visitors) pass() (int, builder.Result, error) {
	g.requests.Store(0)
	b := g.engine.For(g.owner).ConfigMap(configMap("beside", "at", g.clock.Now().String()))
	for i := range 20 {
		b.Object(visitor(fmt.Sprint("g-", i)))
	}
	res, err := b.Reconcile(g.ctx)
	return int(g.requests.Load()), res, err
}

// missing checks passes while the kind isn't there.
func (g *visitors) missing(most int) {
	g.t.Helper()
	n, _, err := g.pass()
	assert.LessOrEqual(g.t, n, most, "the first pass")
	for range 3 {
		g.clock.Step(10 * time.Second)
		n, res, again := g.pass()
		require.Error(g.t, again)
		assert.Zero(g.t, n, "within a minute nothing is tried")
		assert.Equal(g.t, err.Error(), again.Error(), "what is told stays the same")
		assert.Len(g.t, res.Changes, 1, "other children go on")
	}
	for range 2 {
		g.clock.Step(time.Minute)
		n, _, again := g.pass()
		assert.LessOrEqual(g.t, n, 4, "one try a minute")
		assert.Equal(g.t, err.Error(), again.Error(), "what is told stays the same")
	}
	assert.ErrorContains(g.t, err, "the cluster doesn't know the kind Visitor."+goneGroup)
	assert.ErrorContains(g.t, err, "install its CustomResourceDefinition")
	assert.False(g.t, builder.IsTerminal(err))
	failures := 0
	for _, told := range g.told.take() {
		if strings.Contains(told, "ApplyFailed") {
			failures++
			assert.Less(g.t, len(told), 330, "it is said once, and not for each child")
		}
	}
	assert.Equal(g.t, 1, failures, "one event")
}

func (g *visitors) recovered() {
	g.t.Helper()
	g.clock.Step(time.Minute)
	_, res, err := g.pass()
	require.NoError(g.t, err)
	assert.Len(g.t, res.Changes, 21)
	n, _, err := g.pass()
	require.NoError(g.t, err)
	assert.Equal(g.t, 20, n, "a read for each, as there is no cache")
}

func TestKindThatComesAndGoes(t *testing.T) {
	g := newVisitors(t)
	g.missing(4)
	g.install()
	g.recovered()
	g.uninstall()
	g.missing(4)
	g.install()
	g.recovered()
}
