package daemonjob

import (
	"context"
	"fmt"
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
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
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
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 90 * time.Second
	pollEvery = 50 * time.Millisecond
	root      = "../../.."
	examples  = root + "/examples/daemonjob/"

	// pool is the label of nodes that a test adds for itself.
	pool = "pool"
)

// place is a test's namespace on the cluster.
type place struct {
	t         *testing.T
	client    client.WithWatch
	scheme    *runtime.Scheme
	namespace string
}

func quantity(q string) resource.Quantity { return resource.MustParse(q) }

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
	config := testcluster.OperatorConfig(p.t, "daemonjob")
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
	require.NoError(p.t, daemonjob.Setup(mgr, func(o *controller.Options) { o.SkipNameValidation = again }))
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

// apply runs kubectl apply on a file.
func (p *place) apply(file string) {
	p.t.Helper()
	out, err := p.kubectl("apply", "-f", file)
	require.NoError(p.t, err, out)
}

// script is a job whose containers run a script. They know their NODE.
func script(text string) v1alpha1.DaemonJobSpec {
	return v1alpha1.DaemonJobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"devcluster.armature.dev/local": "true"},
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", text},
			Env: []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}},
		}},
	}}}
}

// onPool is a job on the nodes that the test adds; they run it for a time, and end it well.
func (p *place) onPool(runTime string) v1alpha1.DaemonJobSpec {
	spec := script("true")
	spec.Template.Annotations = map[string]string{"devcluster.armature.dev/run-time": runTime}
	spec.Template.Spec.NodeSelector = map[string]string{pool: p.namespace}
	return spec
}

// create creates the DaemonJob demo.
func (p *place) create(spec v1alpha1.DaemonJobSpec) {
	p.t.Helper()
	require.NoError(p.t, p.client.Create(p.t.Context(), &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "demo"}, Spec: spec,
	}))
}

// addNode adds a simulated node to the test's pool, until the test ends. Its name is made unique by the namespace.
func (p *place) addNode(name string) string {
	p.t.Helper()
	name += "-" + p.namespace
	hostname := strings.Trim(name[:min(len(name), 63)], "-.")
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"devcluster.armature.dev/fake": "true", corev1.LabelHostname: hostname, corev1.LabelOSStable: "linux", pool: p.namespace,
		}},
		Status: corev1.NodeStatus{
			Capacity:   corev1.ResourceList{corev1.ResourceCPU: quantity("8"), corev1.ResourceMemory: quantity("8Gi"), corev1.ResourcePods: quantity("100")},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
		},
	}
	node.Status.Allocatable = node.Status.Capacity
	require.NoError(p.t, p.client.Create(p.t.Context(), node))
	p.t.Cleanup(func() {
		if err := p.client.Delete(context.Background(), node); err != nil && !apierrors.IsNotFound(err) {
			p.t.Errorf("delete node: %v", err)
		}
	})
	return name
}

// changeNode changes a node.
func (p *place) changeNode(name string, change func(*corev1.Node)) {
	p.t.Helper()
	eventually(p.t, "a change of node "+name, func() bool {
		node := &corev1.Node{}
		require.NoError(p.t, p.client.Get(p.t.Context(), client.ObjectKey{Name: name}, node))
		change(node)
		err := p.client.Update(p.t.Context(), node)
		if !apierrors.IsConflict(err) {
			require.NoError(p.t, err)
		}
		return err == nil
	})
}

func (p *place) removeNode(name string) {
	p.t.Helper()
	require.NoError(p.t, p.client.Delete(p.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// get returns a DaemonJob as it is now.
func (p *place) get(name string) *v1alpha1.DaemonJob {
	p.t.Helper()
	job := &v1alpha1.DaemonJob{}
	require.NoError(p.t, p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, job))
	return job
}

// edit changes the spec of demo.
func (p *place) edit(change func(*v1alpha1.DaemonJobSpec)) {
	p.t.Helper()
	job := p.get("demo")
	before := job.DeepCopy()
	change(&job.Spec)
	require.NoError(p.t, p.client.Patch(p.t.Context(), job, client.MergeFrom(before)))
}

// wait waits until a DaemonJob is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.DaemonJob) bool) *v1alpha1.DaemonJob {
	p.t.Helper()
	var job *v1alpha1.DaemonJob
	eventually(p.t, what, func() bool {
		job = p.get(name)
		return done(job)
	}, func() any { return job.Status })
	return job
}

// waitState waits until a DaemonJob is in a state.
func (p *place) waitState(name string, state v1alpha1.State) *v1alpha1.DaemonJob {
	p.t.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.DaemonJob) bool { return j.Status.State == state })
}

// waitReason waits until demo's condition Ready has a reason.
func (p *place) waitReason(reason string) *v1alpha1.DaemonJob {
	p.t.Helper()
	return p.wait("demo", "demo is "+reason, func(j *v1alpha1.DaemonJob) bool {
		ready := meta.FindStatusCondition(j.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == reason && ready.ObservedGeneration == j.Generation
	})
}

// waitCounts waits until demo's status has these numbers, of all and of nodes in each state.
func (p *place) waitCounts(counts string) *v1alpha1.DaemonJob {
	p.t.Helper()
	return p.wait("demo", "demo has "+counts, func(j *v1alpha1.DaemonJob) bool { return countsOf(j) == counts })
}

func countsOf(j *v1alpha1.DaemonJob) string {
	s := j.Status
	return fmt.Sprintf("desired %d, active %d, succeeded %d, failed %d, waiting %d, skipped %d",
		s.Desired, s.Active, s.Succeeded, s.Failed, s.Waiting, s.Skipped)
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

// jobs returns the names of all Jobs, sorted.
func (p *place) jobs() []string {
	p.t.Helper()
	var list batchv1.JobList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var names []string
	for _, job := range list.Items {
		names = append(names, job.Name)
	}
	slices.Sort(names)
	return names
}

// pods returns a DaemonJob's pods by node.
func (p *place) pods(name string) map[string]corev1.Pod {
	p.t.Helper()
	var list corev1.PodList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace), client.MatchingLabels{daemonjob.LabelDaemonJob: name}))
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		require.NotContains(p.t, pods, pod.Spec.NodeName, "a second pod on a node")
		pods[pod.Spec.NodeName] = pod
	}
	return pods
}

// logs returns what the Job of a name printed.
func (p *place) logs(job string) string {
	p.t.Helper()
	out, err := p.kubectl("logs", "job/"+job)
	require.NoError(p.t, err, out)
	return strings.TrimSpace(out)
}

// events returns the events about a DaemonJob with a reason.
func (p *place) events(name, reason string) []eventsv1.Event {
	p.t.Helper()
	var list eventsv1.EventList
	require.NoError(p.t, p.client.List(context.Background(), &list, client.InNamespace(p.namespace)))
	var found []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Kind == "DaemonJob" && e.Regarding.Name == name && e.Reason == reason {
			found = append(found, e)
		}
	}
	return found
}

// oneEvent returns the one event about a DaemonJob with a reason, once it is there.
func (p *place) oneEvent(name, reason string) eventsv1.Event {
	p.t.Helper()
	eventually(p.t, "event "+reason+" about "+name, func() bool { return len(p.events(name, reason)) > 0 })
	found := p.events(name, reason)
	require.Len(p.t, found, 1)
	require.Nil(p.t, found[0].Series, "the event was repeated")
	return found[0]
}

// requests records what a client asks for.
type requests struct {
	mu  sync.Mutex
	all []*http.Request
}

func (r *requests) record(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			r.mu.Lock()
			r.all = append(r.all, request)
			r.mu.Unlock()
			return next.RoundTrip(request)
		})
	})
}

// take returns the requests since it was last called.
func (r *requests) take() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.all
	r.all = nil
	return taken
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// passes returns how many passes the operators of this process have made.
func passes(t *testing.T) float64 {
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
				if label.GetName() == "controller" && label.GetValue() == daemonjob.Name {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}
