package replicajob

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/replicajob"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = 50 * time.Millisecond
	root      = "../../.."
)

// place is a test's namespace on the cluster.
type place struct {
	t         *testing.T
	client    client.WithWatch
	scheme    *runtime.Scheme
	namespace string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	testcluster.InstallCRDs(t, "config/crd")
	webhook.Serve(t)
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
	config := testcluster.OperatorConfig(p.t, "replicajob")
	for _, f := range change {
		f(config)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  p.scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{p.namespace: {}}},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true), Unstructured: true}},
	})
	require.NoError(p.t, err)
	again := ptr.To(true) // the same controller, in another manager of this process
	require.NoError(p.t, replicajob.Setup(mgr, func(o *controller.Options) { o.SkipNameValidation = again }))
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

// sh is a pod template that runs a script, which can read the pod's labels: $RESTARTS and $ATTEMPT.
func sh(script string) string {
	label := func(env, label string) string {
		return `{name: ` + env + `, valueFrom: {fieldRef: {fieldPath: "metadata.labels['api.practice.com/` + label + `']"}}}`
	}
	quoted, _ := json.Marshal(script)
	return `{spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: none, command: [sh, -c, ` + string(quoted) + `], env: [` +
		label("RESTARTS", "restarts") + `, ` + label("ATTEMPT", "restart-attempt") + `, {name: HOSTS_FILE, value: /etc/hosts}]}]}}`
}

// forever is a script that runs until it is killed.
const forever = "sleep 600"

func (p *place) job(name, spec string) *v1alpha1.ReplicaJob {
	p.t.Helper()
	job := &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
	require.NoError(p.t, yaml.UnmarshalStrict([]byte(spec), &job.Spec), spec)
	return job
}

func (p *place) create(name, spec string) {
	p.t.Helper()
	require.NoError(p.t, p.client.Create(p.t.Context(), p.job(name, spec)))
}

// get returns a job as it is now.
func (p *place) get(name string) *v1alpha1.ReplicaJob {
	p.t.Helper()
	job := &v1alpha1.ReplicaJob{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, job))
	return job
}

func (p *place) change(name string, change func(*v1alpha1.ReplicaJob)) {
	p.t.Helper()
	before := p.get(name)
	after := before.DeepCopy()
	change(after)
	require.NoError(p.t, p.client.Patch(p.t.Context(), after, client.MergeFrom(before)))
}

// wait waits until a job is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.ReplicaJob) bool) *v1alpha1.ReplicaJob {
	p.t.Helper()
	var job *v1alpha1.ReplicaJob
	eventually(p.t, what, func() bool {
		job = p.get(name)
		return done(job)
	}, func() any { return job.Status }, func() any { return p.pods(name) })
	return job
}

// waitState waits until a job is in a state.
func (p *place) waitState(name string, state v1alpha1.ReplicaJobState) *v1alpha1.ReplicaJob {
	p.t.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.ReplicaJob) bool { return j.Status.State == state })
}

func reason(job *v1alpha1.ReplicaJob, kind string) string {
	if c := meta.FindStatusCondition(job.Status.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
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

// pods returns a job's pods by name, with their phases, if they aren't being deleted.
func (p *place) pods(job string) map[string]corev1.PodPhase {
	p.t.Helper()
	phases := map[string]corev1.PodPhase{}
	for _, pod := range p.podList(job) {
		if pod.DeletionTimestamp == nil {
			phases[pod.Name] = pod.Status.Phase
		}
	}
	return phases
}

func (p *place) podList(job string) []corev1.Pod {
	p.t.Helper()
	var list corev1.PodList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace), client.MatchingLabels{replicajob.LabelJob: job}))
	return list.Items
}

// waitPods waits until a job has just these pods, in a phase.
func (p *place) waitPods(job string, phase corev1.PodPhase, names ...string) {
	p.t.Helper()
	eventually(p.t, "pods of "+job, func() bool {
		found := p.pods(job)
		return len(found) == len(names) && !slices.ContainsFunc(names, func(name string) bool { return found[name] != phase })
	}, func() any { return p.pods(job) }, func() any { return p.get(job).Status })
}

func (p *place) pod(name string) *corev1.Pod {
	p.t.Helper()
	pod := &corev1.Pod{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, pod))
	return pod
}

// kubectl runs devcluster's kubectl in the namespace.
func (p *place) kubectl(args ...string) string {
	p.t.Helper()
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = filepath.Join(root, "bin", "devcluster")
	}
	args = append([]string{"kubectl", "--kubeconfig", testcluster.Kubeconfig(p.t), "-n", p.namespace}, args...)
	out, err := exec.CommandContext(p.t.Context(), binary, args...).CombinedOutput()
	require.NoError(p.t, err, string(out))
	return strings.TrimSpace(string(out))
}

// events returns the reasons of the events about a job, in no order.
func (p *place) events(job string) []string {
	p.t.Helper()
	var list eventsv1.EventList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var reasons []string
	for _, e := range list.Items {
		if e.Regarding.Kind == "ReplicaJob" && e.Regarding.Name == job {
			reasons = append(reasons, e.Reason)
		}
	}
	slices.Sort(reasons)
	return reasons
}

// counter counts the requests of a client, but for watches and events.
type counter struct {
	mu       sync.Mutex
	requests []string
}

func (c *counter) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") == "" && !strings.Contains(r.URL.Path, "/events") {
				c.mu.Lock()
				c.requests = append(c.requests, r.Method+" "+r.URL.Path)
				c.mu.Unlock()
			}
			return next.RoundTrip(r)
		})
	})
}

// seen returns the requests since the last reset that contain this.
func (c *counter) seen(what string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for _, r := range c.requests {
		if strings.Contains(r, what) {
			found = append(found, r)
		}
	}
	return found
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
