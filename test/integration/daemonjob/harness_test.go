package daemonjob

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience = 90 * time.Second
	examples = "../../../examples/daemonjob/"

	// pool is the label of nodes that a test adds for itself.
	pool = "pool"
	// runTime is the annotation of a pod that tells a simulated node how long to run it.
	runTime = "devcluster.armature.dev/run-time"
)

// place is a test's namespace on the cluster.
type place struct{ *harness.Place }

// newPlace makes a place for a test that runs beside the others: most of the time it waits for pods.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	return newPlaceAlone(t)
}

// newPlaceAlone makes a place for a test that runs by itself: it counts the passes of all managers of this process,
// or runs on each node of the cluster, to which other tests add some.
func newPlaceAlone(t *testing.T) *place {
	t.Helper()
	return &place{harness.New(t, "DaemonJob", patience)}
}

// manage runs a manager for the namespace until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	mgr := p.NewManager(testcluster.OperatorConfig(p.T, "daemonjob"), p.Options(), change...)
	require.NoError(p.T, daemonjob.Setup(mgr))
	return p.Start(mgr)
}

func quantity(q string) resource.Quantity { return resource.MustParse(q) }

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
func (p *place) onPool(time string) v1alpha1.DaemonJobSpec {
	spec := script("true")
	spec.Template.Annotations = map[string]string{runTime: time}
	spec.Template.Spec.NodeSelector = map[string]string{pool: p.Namespace}
	return spec
}

// create creates the DaemonJob demo.
func (p *place) create(spec v1alpha1.DaemonJobSpec) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Create(p.T.Context(), &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "demo"}, Spec: spec,
	}))
}

// addNode adds a simulated node to the test's pool, until the test ends, and waits until pods may run on it: the API server taints a
// new node as not ready, and the node controller takes the taint off. Its name is made unique by the namespace.
func (p *place) addNode(name string) string {
	p.T.Helper()
	name += "-" + p.Namespace
	hostname := strings.Trim(name[:min(len(name), 63)], "-.")
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"devcluster.armature.dev/fake": "true", corev1.LabelHostname: hostname, corev1.LabelOSStable: "linux", pool: p.Namespace,
		}},
		Status: corev1.NodeStatus{
			Capacity:   corev1.ResourceList{corev1.ResourceCPU: quantity("8"), corev1.ResourceMemory: quantity("8Gi"), corev1.ResourcePods: quantity("100")},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
		},
	}
	node.Status.Allocatable = node.Status.Capacity
	require.NoError(p.T, p.Client.Create(p.T.Context(), node))
	p.T.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), node); err != nil && !apierrors.IsNotFound(err) {
			p.T.Errorf("delete node: %v", err)
		}
	})
	p.Eventually("node "+name+" has no taint", func() bool {
		require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKeyFromObject(node), node))
		return len(node.Spec.Taints) == 0
	})
	return name
}

// changeNode changes a node.
func (p *place) changeNode(name string, change func(*corev1.Node)) {
	p.T.Helper()
	p.RetryOnConflict("a change of node "+name, func() error {
		node := &corev1.Node{}
		require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKey{Name: name}, node))
		change(node)
		return p.Client.Update(p.T.Context(), node)
	})
}

func (p *place) removeNode(name string) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Delete(p.T.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// get returns a DaemonJob as it is now.
func (p *place) get(name string) *v1alpha1.DaemonJob {
	p.T.Helper()
	job := &v1alpha1.DaemonJob{}
	p.Get(name, job)
	return job
}

// edit changes the spec of demo.
func (p *place) edit(change func(*v1alpha1.DaemonJobSpec)) {
	p.T.Helper()
	job := p.get("demo")
	before := job.DeepCopy()
	change(&job.Spec)
	require.NoError(p.T, p.Client.Patch(p.T.Context(), job, client.MergeFrom(before)))
}

// wait waits until a DaemonJob is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.DaemonJob) bool) *v1alpha1.DaemonJob {
	p.T.Helper()
	var job *v1alpha1.DaemonJob
	p.Eventually(what, func() bool {
		job = p.get(name)
		return done(job)
	}, func() any { return job.Status })
	return job
}

// waitState waits until a DaemonJob is in a state.
func (p *place) waitState(name string, state v1alpha1.State) *v1alpha1.DaemonJob {
	p.T.Helper()
	return p.wait(name, name+" is "+string(state), func(j *v1alpha1.DaemonJob) bool { return j.Status.State == state })
}

// waitReason waits until demo's condition Ready has a reason.
func (p *place) waitReason(reason string) *v1alpha1.DaemonJob {
	p.T.Helper()
	return p.wait("demo", "demo is "+reason, func(j *v1alpha1.DaemonJob) bool {
		ready := meta.FindStatusCondition(j.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == reason && ready.ObservedGeneration == j.Generation
	})
}

// waitCounts waits until demo's status has these numbers, of all and of nodes in each state.
func (p *place) waitCounts(counts string) *v1alpha1.DaemonJob {
	p.T.Helper()
	return p.wait("demo", "demo has "+counts, func(j *v1alpha1.DaemonJob) bool { return countsOf(j) == counts })
}

func countsOf(j *v1alpha1.DaemonJob) string {
	s := j.Status
	return fmt.Sprintf("desired %d, active %d, succeeded %d, failed %d, waiting %d, skipped %d",
		s.Desired, s.Active, s.Succeeded, s.Failed, s.Waiting, s.Skipped)
}

// pods returns a DaemonJob's pods by node.
func (p *place) pods(name string) map[string]corev1.Pod {
	p.T.Helper()
	pods := map[string]corev1.Pod{}
	for _, pod := range p.PodsWith(daemonjob.LabelDaemonJob, name) {
		require.NotContains(p.T, pods, pod.Spec.NodeName, "a second pod on a node")
		pods[pod.Spec.NodeName] = pod
	}
	return pods
}

// endPods lets simulated nodes end those pods of a DaemonJob that they would run forever.
func (p *place) endPods(name string) {
	p.T.Helper()
	for _, pod := range p.PodsWith(daemonjob.LabelDaemonJob, name) {
		if pod.Annotations[runTime] != "forever" {
			continue
		}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+runTime+`":"0s"}}}`))
		require.NoError(p.T, client.IgnoreNotFound(p.Client.Patch(p.T.Context(), &pod, patch)))
	}
}
