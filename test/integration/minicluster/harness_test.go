package minicluster

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = 50 * time.Millisecond
	root      = "../../.."
	examples  = root + "/examples/minicluster/"
)

// place is a test's namespace on the cluster.
type place struct {
	t         *testing.T
	client    client.WithWatch
	scheme    *runtime.Scheme
	namespace string
}

// installCRDs is done by the first test that needs them.
var installCRDs sync.Once

// newPlace makes a place for a test that runs beside the others: most of the time it waits for pods.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	return newPlaceAlone(t)
}

// newPlaceAlone makes a place for a test that looks at what concerns all of this process, and so runs by itself.
func newPlaceAlone(t *testing.T) *place {
	t.Helper()
	installCRDs.Do(func() {
		testcluster.InstallCRDs(t, "config/crd")
		webhook.Serve(t)
	})
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, err := client.NewWithWatch(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	return &place{t: t, client: c, scheme: scheme, namespace: testcluster.Namespace(t)}
}

// manage runs a manager for the namespace until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.t.Helper()
	config := testcluster.OperatorConfig(p.t, "minicluster")
	for _, f := range change {
		f(config)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  p.scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{p.namespace: {}}},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
	})
	require.NoError(p.t, err)
	again := ptr.To(true) // the same controller, in another manager of this process
	require.NoError(p.t, minicluster.Setup(mgr, func(o *controller.Options) { o.SkipNameValidation = again }))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Errorf("manager: %v", err)
		}
	})
	p.t.Cleanup(stop)
	return stop
}

// kubectl runs devcluster's kubectl in the namespace.
func (p *place) kubectl(args ...string) (string, error) {
	p.t.Helper()
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = filepath.Join(root, "bin", "devcluster")
	}
	args = append([]string{"kubectl", "--kubeconfig", testcluster.Kubeconfig(p.t), "-n", p.namespace}, args...)
	out, err := exec.CommandContext(p.t.Context(), binary, args...).CombinedOutput()
	return string(out), err
}

// cluster returns a MiniCluster of a name as it is now.
func (p *place) cluster(name string) *v1alpha1.MiniCluster {
	p.t.Helper()
	c := &v1alpha1.MiniCluster{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, c))
	return c
}

// wait waits until a cluster is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.MiniCluster) bool) *v1alpha1.MiniCluster {
	p.t.Helper()
	var c *v1alpha1.MiniCluster
	eventually(p.t, what, func() bool {
		c = p.cluster(name)
		return done(c)
	}, func() any { return c.Status })
	return c
}

// waitState waits until a cluster is in a state.
func (p *place) waitState(name string, state v1alpha1.MiniClusterState) *v1alpha1.MiniCluster {
	p.t.Helper()
	return p.wait(name, name+" is "+string(state), func(c *v1alpha1.MiniCluster) bool { return c.Status.State == state })
}

// isTrue reports whether a condition holds.
func isTrue(c *v1alpha1.MiniCluster, kind string) bool {
	return apimeta.IsStatusConditionTrue(c.Status.Conditions, kind)
}

// eventually polls on the test's goroutine, so that what it calls may fail the test.
func eventually(t *testing.T, what string, done func() bool, show ...func() any) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			for _, f := range show {
				t.Logf("%+v", f())
			}
			require.FailNow(t, "not in time: "+what)
		case <-tick.C:
		}
	}
}

// pods returns a cluster's live pods by rank.
func (p *place) pods(name string) map[string]corev1.Pod {
	p.t.Helper()
	var list corev1.PodList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace), client.MatchingLabels{batchv1.JobNameLabel: name}))
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed {
			pods[pod.Labels[batchv1.JobCompletionIndexAnnotation]] = pod
		}
	}
	return pods
}

// job returns a cluster's Job, nil if it has none.
func (p *place) job(name string) *batchv1.Job {
	p.t.Helper()
	job := &batchv1.Job{}
	err := p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, job)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(p.t, err)
	return job
}

// logs returns what the leader of a cluster printed.
func (p *place) logs(name string) string {
	p.t.Helper()
	out, err := p.kubectl("logs", p.cluster(name).Status.Leader.Pod)
	require.NoError(p.t, err, out)
	return strings.TrimSpace(out)
}

// events returns the events about a cluster with a reason.
func (p *place) events(name, reason string) []eventsv1.Event {
	p.t.Helper()
	var list eventsv1.EventList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var found []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Kind == "MiniCluster" && e.Regarding.Name == name && e.Reason == reason {
			found = append(found, e)
		}
	}
	return found
}

// oneEvent returns the one event about a cluster with a reason, once it is there.
func (p *place) oneEvent(name, reason string) eventsv1.Event {
	p.t.Helper()
	eventually(p.t, "event "+reason+" about "+name, func() bool { return len(p.events(name, reason)) > 0 })
	found := p.events(name, reason)
	require.Len(p.t, found, 1)
	require.Nil(p.t, found[0].Series, "the event was repeated")
	return found[0]
}

// reconciles returns how many passes the operators of this process have made.
func reconciles(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == minicluster.Name {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

// touch makes the operator look at a cluster again, without changing what it says.
func (p *place) touch(name string) {
	p.t.Helper()
	before := reconciles(p.t)
	c := p.cluster(name)
	changed := c.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, "touched", time.Now().Format(time.RFC3339Nano))
	require.NoError(p.t, p.client.Patch(p.t.Context(), changed, client.MergeFrom(c)))
	eventually(p.t, "a pass", func() bool { return reconciles(p.t) > before })
}

// counter counts the requests of a client, but for watches.
type counter struct {
	mu       sync.Mutex
	requests []string
}

func (c *counter) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") == "" {
				c.mu.Lock()
				c.requests = append(c.requests, r.Method+" "+r.URL.Path)
				c.mu.Unlock()
			}
			return next.RoundTrip(r)
		})
	})
}

// take returns the requests since it was last called.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.requests
	c.requests = nil
	return taken
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// condition returns a condition, a false one if there is none.
func condition(t *testing.T, c *v1alpha1.MiniCluster, kind string) metav1.Condition {
	t.Helper()
	if found := apimeta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}
