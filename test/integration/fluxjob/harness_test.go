package fluxjob

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 120 * time.Second

// place is a test's namespace on the cluster.
type place struct{ *harness.Place }

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{harness.New(t, "FluxJob", patience)}
}

// manage runs a manager of the whole cluster, as FluxSetups are in no namespace, until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	return p.manageAs(admission.Manager{}, change...)
}

// manageAs runs a manager that sees what m says.
func (p *place) manageAs(m admission.Manager, change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	options := p.Options()
	options.Cache.DefaultNamespaces = nil
	for _, namespace := range m.Namespaces {
		options.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	mgr := p.NewManager(testcluster.OperatorConfig(p.T, "fluxjob", "minicluster"), options, change...)
	require.NoError(p.T, fluxjob.Setup(mgr, m))
	require.NoError(p.T, minicluster.Setup(mgr))
	return p.Start(mgr)
}

// setup creates a FluxSetup, whose name is the namespace's, and deletes it with the test.
func (p *place) setup(change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	p.T.Helper()
	return p.setupNamed(p.Namespace, change...)
}

func (p *place) setupNamed(name string, change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	p.T.Helper()
	s := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, f := range change {
		f(&s.Spec)
	}
	require.NoError(p.T, p.Client.Create(p.T.Context(), s))
	p.T.Cleanup(func() {
		_ = p.Client.Delete(context.Background(), &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
	return s
}

// clusters limits the number of MiniClusters.
func clusters(n int32) func(*v1alpha1.FluxSetupSpec) {
	return func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = &n }
}

// preempting lets jobs of a higher priority push others out, and all namespaces have priorities up to a limit.
func preempting(most int32) func(*v1alpha1.FluxSetupSpec) {
	return func(s *v1alpha1.FluxSetupSpec) {
		s.Preemption, s.PriorityLimits = v1alpha1.PreemptionLowerPriority, []v1alpha1.FluxPriorityLimit{{Max: most}}
	}
}

// submit creates a job in the queue of the namespace's name, which runs a script on one pod.
func (p *place) submit(name, script string, change ...func(*v1alpha1.FluxJob)) {
	p.T.Helper()
	job := &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
		Spec: v1alpha1.FluxJobSpec{Queue: p.Namespace, Size: ptr.To[int32](1), MiniCluster: &v1alpha1.MiniClusterSpec{
			Flux:       v1alpha1.MiniClusterFlux{Disable: true},
			Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: script}},
		}},
	}
	for _, f := range change {
		f(job)
	}
	require.NoError(p.T, p.Client.Create(p.T.Context(), job))
}

// forever is a script that ends when it is told to.
const forever = "sleep 3600"

func priority(n int32) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.Priority = &n }
}

// job returns a job of a name as it is now.
func (p *place) job(name string) *v1alpha1.FluxJob {
	p.T.Helper()
	job := &v1alpha1.FluxJob{}
	p.Get(name, job)
	return job
}

// queue returns a FluxSetup as it is now.
func (p *place) queue(name string) *v1alpha1.FluxSetup {
	p.T.Helper()
	s := &v1alpha1.FluxSetup{}
	require.NoError(p.T, p.Client.Get(context.Background(), client.ObjectKey{Name: name}, s))
	return s
}

// wait waits until a job is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.FluxJob) bool) *v1alpha1.FluxJob {
	p.T.Helper()
	var job *v1alpha1.FluxJob
	p.Eventually(what, func() bool {
		job = p.job(name)
		return done(job)
	}, func() any { return job.Status })
	return job
}

// waitState waits until a job is in a state.
func (p *place) waitState(name string, state v1alpha1.FluxJobState) *v1alpha1.FluxJob {
	p.T.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.FluxJob) bool { return j.Status.State == state })
}

// waitReason waits until a job waits for a reason.
func (p *place) waitReason(name, reason string) *v1alpha1.FluxJob {
	p.T.Helper()
	return p.wait(name, name+" waits: "+reason, func(j *v1alpha1.FluxJob) bool {
		c := meta.FindStatusCondition(j.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason
	})
}

// update changes a job.
func (p *place) update(name string, change func(*v1alpha1.FluxJob)) {
	p.T.Helper()
	job := p.job(name)
	changed := job.DeepCopy()
	change(changed)
	require.NoError(p.T, p.Client.Patch(p.T.Context(), changed, client.MergeFrom(job)))
}

// updateQueue changes a FluxSetup.
func (p *place) updateQueue(name string, change func(*v1alpha1.FluxSetupSpec)) {
	p.T.Helper()
	s := p.queue(name)
	changed := s.DeepCopy()
	change(&changed.Spec)
	require.NoError(p.T, p.Client.Patch(p.T.Context(), changed, client.MergeFrom(s)))
}

// pods returns the names of the pods of a job's MiniCluster that have not ended.
func (p *place) pods(job string) []string {
	p.T.Helper()
	var names []string
	for _, pod := range p.PodsWith(minicluster.LabelMiniCluster, job) {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			names = append(names, pod.Name)
		}
	}
	return names
}

// miniClusters returns the names of the MiniClusters.
func (p *place) miniClusters() []string {
	p.T.Helper()
	var list v1alpha1.MiniClusterList
	require.NoError(p.T, p.Client.List(context.Background(), &list, client.InNamespace(p.Namespace)))
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Name)
	}
	return names
}

// watchPods fails the test if ever more pods are there than a quota allows, also those that are being stopped, in this namespace and
// others. It returns what ends the watch.
func (p *place) watchPods(most int, others ...string) (stop func()) {
	p.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, err := p.Client.Watch(ctx, &corev1.PodList{})
	require.NoError(p.T, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		there := map[string]bool{}
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || pod.Namespace != p.Namespace && !slices.Contains(others, pod.Namespace) {
				continue
			}
			ended := event.Type == "DELETED" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
			if ended {
				delete(there, pod.Namespace+"/"+pod.Name)
			} else {
				there[pod.Namespace+"/"+pod.Name] = true
			}
			if len(there) > most {
				p.T.Errorf("%d pods are there, and the quota is %d: %v", len(there), most, there)
			}
		}
	}()
	stop = sync.OnceFunc(func() { w.Stop(); cancel(); <-done })
	p.T.Cleanup(stop)
	return stop
}
