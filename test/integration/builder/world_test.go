package builder_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 2 * time.Minute
	pollEvery = 10 * time.Millisecond
)

// world is a namespace, an owner in it, and an engine on a manager's client whose requests are counted.
type world struct {
	t      *testing.T
	ctx    context.Context
	ns     string
	cached client.Client // the manager's
	live   client.Client // past every cache, as someone else
	engine *builder.Engine
	owner  *corev1.ConfigMap
	sent   *ledger
	told   *recorder
}

// newWorld starts a manager. What is owned is indexed.
func newWorld(t *testing.T, owned ...client.Object) *world {
	w := &world{t: t, ctx: t.Context(), ns: testcluster.Namespace(t), sent: &ledger{}, told: &recorder{}}
	var err error
	w.live, err = client.New(testcluster.Config(t), client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	w.live = client.WithFieldOwner(w.live, "someone-else")

	mgr := newManager(t, w.sent.watch(testcluster.Config(t)))
	w.cached = mgr.GetClient()
	w.engine = builder.NewEngine(mgr.GetClient(), builder.Options{Name: "tester", Recorder: w.told, Reader: mgr.GetAPIReader()})
	for _, kind := range owned {
		require.NoError(t, w.engine.Index(w.ctx, mgr.GetFieldIndexer(), kind))
	}
	start(t, mgr)
	w.owner = w.newOwner("owner")
	return w
}

func (w *world) newOwner(name string) *corev1.ConfigMap {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
	require.NoError(w.t, w.live.Create(w.ctx, owner))
	return owner
}

// pass runs one pass and returns what it did and the writes and reads that it sent.
func (w *world) pass(objs ...client.Object) (builder.Result, []string, error) {
	return w.passFor(w.engine.For(w.owner), objs...)
}

func (w *world) passFor(b *builder.Builder, objs ...client.Object) (builder.Result, []string, error) {
	w.sent.reset()
	for _, o := range objs {
		b.Object(o)
	}
	res, err := b.Reconcile(w.ctx)
	return res, w.sent.all(), err
}

// get reads an object past the cache, into a new one.
func (w *world) get(like client.Object, about ...any) client.Object {
	w.t.Helper()
	obj := like.DeepCopyObject().(client.Object)
	obj.SetNamespace(w.ns)
	require.NoError(w.t, w.live.Get(w.ctx, client.ObjectKeyFromObject(obj), obj), about...)
	return obj
}

// edit changes an object as someone else would, and waits until the cache shows it.
func (w *world) edit(like client.Object, change func(client.Object)) {
	w.eventually(func() bool {
		obj := w.get(like)
		change(obj)
		return w.live.Update(w.ctx, obj) == nil
	}, "edit %s", like.GetName())
	w.settle(like)
}

// settle waits until the cache shows what the API server has.
func (w *world) settle(like client.Object) {
	w.eventually(func() bool {
		obj := like.DeepCopyObject().(client.Object)
		err := w.cached.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: like.GetName()}, obj)
		return err == nil && obj.GetResourceVersion() == w.get(like).GetResourceVersion()
	}, "the cache to show %s", like.GetName())
}

func (w *world) eventually(done func() bool, format string, args ...any) {
	w.t.Helper()
	harness.Eventually(w.t, patience, fmt.Sprintf(format, args...), done)
}

// testScheme is made once: hundreds of managers have it.
var testScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	scheme.AddKnownTypes(widgetVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, widgetVersion)
	return scheme
})

func newManager(t testing.TB, cfg *rest.Config) ctrl.Manager {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     testScheme(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true, EnableReadYourWritesConsistency: new(true)}},
	})
	require.NoError(t, err)
	return mgr
}

// start runs a manager until the test ends, or until the returned function is called, which waits for its end.
func start(t testing.TB, mgr ctrl.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	require.True(t, mgr.GetCache().WaitForCacheSync(ctx))
	return stop
}

// ledger lists the requests sent through a connection, but for discovery and the watches and lists of its cache.
type ledger struct {
	mu       sync.Mutex
	sent     []string
	conflict map[string]int // how many of the sent ones were refused as conflicts, by the request
}

func (l *ledger) watch(cfg *rest.Config) *rest.Config {
	cfg.QPS = -1
	cfg.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			query := r.URL.RawQuery
			if !isResource(r.URL.Path) || strings.Contains(query, "watch=") || strings.Contains(query, "limit=") {
				return next.RoundTrip(r)
			}
			request := r.Method + " " + r.URL.Path
			if strings.Contains(query, "dryRun=All") || bodySaysDryRun(r) {
				request += " (dry run)"
			}
			l.add(request)
			answer, err := next.RoundTrip(r)
			if err == nil && answer.StatusCode == http.StatusConflict {
				l.addConflict(request)
			}
			return answer, err
		})
	}
	return cfg
}

// isResource reports whether a path is that of objects, of namespaced or cluster-scoped kinds, and not one of discovery.
func isResource(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return parts[0] == "api" && len(parts) > 2 || parts[0] == "apis" && len(parts) > 3
}

// bodySaysDryRun reads what a deletion says in its body.
func bodySaysDryRun(r *http.Request) bool {
	if r.Method != http.MethodDelete || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	data, _ := io.ReadAll(body)
	return bytes.Contains(data, []byte("All"))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (l *ledger) add(request string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, request)
}

func (l *ledger) addConflict(request string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conflict == nil {
		l.conflict = map[string]int{}
	}
	l.conflict[request]++
}

func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent, l.conflict = nil, nil
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.sent...)
}

// count counts the requests of a method to paths that contain a text.
func (l *ledger) count(method, path string) int {
	n := 0
	for _, s := range l.all() {
		if strings.HasPrefix(s, method+" ") && strings.Contains(s, path) {
			n++
		}
	}
	return n
}

// conflicts counts those of the requests that were refused as conflicts.
func (l *ledger) conflicts(method, path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for s, times := range l.conflict {
		if strings.HasPrefix(s, method+" ") && strings.Contains(s, path) {
			n += times
		}
	}
	return n
}

// recorder keeps events instead of sending them.
type recorder struct {
	mu   sync.Mutex
	told []string
}

func (r *recorder) Eventf(_, _ runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, eventtype+" "+reason+" "+action+": "+args[0].(string))
}

// take returns what was told since the last call.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return told
}

// pending returns the children of a result that are pending for a reason.
func pending(res builder.Result, reason string) []builder.ChildStatus {
	return slices.DeleteFunc(slices.Clone(res.Pending), func(c builder.ChildStatus) bool { return c.Reason != reason })
}
