package replicajob

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/replicajob"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 120 * time.Second

// place is a test's namespace on the cluster.
type place struct{ *harness.Place }

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{harness.New(t, "ReplicaJob", patience)}
}

// manage runs a manager for the namespace until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	options := p.Options()
	options.Client.Cache.Unstructured = true // as which the groups of other schedulers are read
	mgr := p.NewManager(testcluster.OperatorConfig(p.T, "replicajob"), options, change...)
	require.NoError(p.T, replicajob.Setup(mgr))
	return p.Start(mgr)
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
	p.T.Helper()
	job := &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
	require.NoError(p.T, yaml.UnmarshalStrict([]byte(spec), &job.Spec), spec)
	return job
}

func (p *place) create(name, spec string) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Create(p.T.Context(), p.job(name, spec)))
}

// get returns a job as it is now.
func (p *place) get(name string) *v1alpha1.ReplicaJob {
	p.T.Helper()
	job := &v1alpha1.ReplicaJob{}
	p.Get(name, job)
	return job
}

func (p *place) change(name string, change func(*v1alpha1.ReplicaJob)) {
	p.T.Helper()
	before := p.get(name)
	after := before.DeepCopy()
	change(after)
	require.NoError(p.T, p.Client.Patch(p.T.Context(), after, client.MergeFrom(before)))
}

// wait waits until a job is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.ReplicaJob) bool) *v1alpha1.ReplicaJob {
	p.T.Helper()
	var job *v1alpha1.ReplicaJob
	p.Eventually(what, func() bool {
		job = p.get(name)
		return done(job)
	}, func() any { return job.Status }, func() any { return p.pods(name) })
	return job
}

// waitState waits until a job is in a state.
func (p *place) waitState(name string, state v1alpha1.ReplicaJobState) *v1alpha1.ReplicaJob {
	p.T.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.ReplicaJob) bool { return j.Status.State == state })
}

func reason(job *v1alpha1.ReplicaJob, kind string) string {
	if c := meta.FindStatusCondition(job.Status.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}

// pods returns a job's pods by name, with their phases, if they aren't being deleted.
func (p *place) pods(job string) map[string]corev1.PodPhase {
	p.T.Helper()
	phases := map[string]corev1.PodPhase{}
	for _, pod := range p.podList(job) {
		if pod.DeletionTimestamp == nil {
			phases[pod.Name] = pod.Status.Phase
		}
	}
	return phases
}

func (p *place) podList(job string) []corev1.Pod {
	p.T.Helper()
	return p.PodsWith(replicajob.LabelJob, job)
}

// waitPods waits until a job has just these pods, in a phase.
func (p *place) waitPods(job string, phase corev1.PodPhase, names ...string) {
	p.T.Helper()
	p.Eventually("pods of "+job, func() bool {
		found := p.pods(job)
		return len(found) == len(names) && !slices.ContainsFunc(names, func(name string) bool { return found[name] != phase })
	}, func() any { return p.pods(job) }, func() any { return p.get(job).Status })
}

func (p *place) pod(name string) *corev1.Pod {
	p.T.Helper()
	pod := &corev1.Pod{}
	p.Get(name, pod)
	return pod
}

// events returns the reasons of the events about a job, sorted.
func (p *place) events(job string) []string {
	p.T.Helper()
	var reasons []string
	for _, e := range p.EventsAbout(job) {
		reasons = append(reasons, e.Reason)
	}
	slices.Sort(reasons)
	return reasons
}

// requests are those that an operator makes, but for its watches, and for events, which it writes when it has the time.
type requests struct{ harness.Requests }

// seen returns the requests since the last Take that contain this.
func (r *requests) seen(what string) []string {
	return slices.DeleteFunc(r.All(), func(request string) bool {
		return strings.Contains(request, "/events") || !strings.Contains(request, what)
	})
}
