package fluxjob

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/minicluster"
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

// installCRDs is done by the first test.
var installCRDs sync.Once

func newPlace(t *testing.T) *place {
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

// manage runs a manager of the whole cluster, as FluxSetups are in no namespace, until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.t.Helper()
	config := testcluster.OperatorConfig(p.t, "fluxjob", "minicluster")
	config.QPS = -1
	for _, f := range change {
		f(config)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  p.scheme,
		Metrics: server.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
	})
	require.NoError(p.t, err)
	again := func(o *controller.Options) { o.SkipNameValidation = ptr.To(true) } // the same controllers, in another manager of this process
	require.NoError(p.t, fluxjob.Setup(mgr, again))
	require.NoError(p.t, minicluster.Setup(mgr, again))
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

// setup creates a FluxSetup, whose name is the namespace's, and deletes it with the test.
func (p *place) setup(change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	p.t.Helper()
	return p.setupNamed(p.namespace, change...)
}

func (p *place) setupNamed(name string, change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	p.t.Helper()
	s := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, f := range change {
		f(&s.Spec)
	}
	require.NoError(p.t, p.client.Create(p.t.Context(), s))
	p.t.Cleanup(func() {
		_ = p.client.Delete(context.Background(), &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
	return s
}

// clusters limits the number of MiniClusters.
func clusters(n int32) func(*v1alpha1.FluxSetupSpec) {
	return func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = &n }
}

// submit creates a job in the queue of the namespace's name, which runs a script on one pod.
func (p *place) submit(name, script string, change ...func(*v1alpha1.FluxJob)) {
	p.t.Helper()
	job := &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name},
		Spec: v1alpha1.FluxJobSpec{Queue: p.namespace, Size: ptr.To[int32](1), MiniCluster: &v1alpha1.MiniClusterSpec{
			Flux:       v1alpha1.MiniClusterFlux{Disable: true},
			Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: script}},
		}},
	}
	for _, f := range change {
		f(job)
	}
	require.NoError(p.t, p.client.Create(p.t.Context(), job))
}

// forever is a script that ends when it is told to.
const forever = "sleep 3600"

func priority(n int32) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.Priority = &n }
}

// job returns a job of a name as it is now.
func (p *place) job(name string) *v1alpha1.FluxJob {
	p.t.Helper()
	job := &v1alpha1.FluxJob{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, job))
	return job
}

// queue returns a FluxSetup as it is now.
func (p *place) queue(name string) *v1alpha1.FluxSetup {
	p.t.Helper()
	s := &v1alpha1.FluxSetup{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Name: name}, s))
	return s
}

// wait waits until a job is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.FluxJob) bool) *v1alpha1.FluxJob {
	p.t.Helper()
	var job *v1alpha1.FluxJob
	eventually(p.t, what, func() bool {
		job = p.job(name)
		return done(job)
	}, func() any { return job.Status })
	return job
}

// waitState waits until a job is in a state.
func (p *place) waitState(name string, state v1alpha1.FluxJobState) *v1alpha1.FluxJob {
	p.t.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.FluxJob) bool { return j.Status.State == state })
}

// waitReason waits until a job waits for a reason.
func (p *place) waitReason(name, reason string) *v1alpha1.FluxJob {
	p.t.Helper()
	return p.wait(name, name+" waits: "+reason, func(j *v1alpha1.FluxJob) bool {
		c := meta.FindStatusCondition(j.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason
	})
}

// update changes a job.
func (p *place) update(name string, change func(*v1alpha1.FluxJob)) {
	p.t.Helper()
	job := p.job(name)
	changed := job.DeepCopy()
	change(changed)
	require.NoError(p.t, p.client.Patch(p.t.Context(), changed, client.MergeFrom(job)))
}

// updateQueue changes a FluxSetup.
func (p *place) updateQueue(name string, change func(*v1alpha1.FluxSetupSpec)) {
	p.t.Helper()
	s := p.queue(name)
	changed := s.DeepCopy()
	change(&changed.Spec)
	require.NoError(p.t, p.client.Patch(p.t.Context(), changed, client.MergeFrom(s)))
}

// pods returns the names of the pods of a job's MiniCluster that have not ended.
func (p *place) pods(job string) []string {
	p.t.Helper()
	var list corev1.PodList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace), client.MatchingLabels{minicluster.LabelMiniCluster: job}))
	var names []string
	for _, pod := range list.Items {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			names = append(names, pod.Name)
		}
	}
	return names
}

// miniClusters returns the names of the MiniClusters.
func (p *place) miniClusters() []string {
	p.t.Helper()
	var list v1alpha1.MiniClusterList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Name)
	}
	return names
}

// watchPods fails the test if ever more pods are there than a quota allows, also those that are being stopped. It returns
// what ends the watch.
func (p *place) watchPods(most int) (stop func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, err := p.client.Watch(ctx, &corev1.PodList{}, client.InNamespace(p.namespace))
	require.NoError(p.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		there := map[string]bool{}
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			ended := event.Type == "DELETED" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
			if ended {
				delete(there, pod.Name)
			} else {
				there[pod.Name] = true
			}
			if len(there) > most {
				p.t.Errorf("%d pods are there, and the quota is %d: %v", len(there), most, there)
			}
		}
	}()
	stop = sync.OnceFunc(func() { w.Stop(); cancel(); <-done })
	p.t.Cleanup(stop)
	return stop
}

// events returns the events about a job with a reason.
func (p *place) events(job, reason string) []eventsv1.Event {
	p.t.Helper()
	var list eventsv1.EventList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var found []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Kind == "FluxJob" && e.Regarding.Name == job && e.Reason == reason {
			found = append(found, e)
		}
	}
	return found
}

// oneEvent returns the one event about a job with a reason, once it is there.
func (p *place) oneEvent(job, reason string) eventsv1.Event {
	p.t.Helper()
	eventually(p.t, "event "+reason+" about "+job, func() bool { return len(p.events(job, reason)) > 0 })
	found := p.events(job, reason)
	require.Len(p.t, found, 1)
	require.Nil(p.t, found[0].Series, "the event was repeated")
	return found[0]
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
