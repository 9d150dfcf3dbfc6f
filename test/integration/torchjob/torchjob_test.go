// Package torchjob_test runs the example's operator on a real API server, and its ranks on local nodes.
package torchjob_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/examples/torchjob/allreduce"
	v1 "github.com/armature-dev/armature/examples/torchjob/api/v1"
	"github.com/armature-dev/armature/examples/torchjob/operator"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 120 * time.Second

// TestMain lets this binary be a rank as well: it is the command of the pods.
func TestMain(m *testing.M) {
	os.Exit(harness.RunTestsOr(m, "rank", allreduce.Run, testcluster.WithNodes("node-1", "node-2")))
}

// world is a running operator and a namespace.
type world struct{ *harness.Place }

func newWorld(t *testing.T) *world {
	t.Helper()
	p := harness.Connect(t, "TorchJob", patience, "examples/torchjob/config", v1.AddToScheme)
	options := p.Options()
	options.Cache.DefaultNamespaces = nil
	options.Client.Cache.Unstructured = true
	mgr := p.NewManager(testcluster.Config(t), options)
	require.NoError(t, operator.Setup(mgr))
	p.Start(mgr)
	return &world{p}
}

// sample returns the example's job, with this binary as its command.
func (w *world) sample() *v1.TorchJob {
	w.T.Helper()
	job := &v1.TorchJob{}
	w.ReadManifest("../../../examples/torchjob/sample.yaml", job)
	for _, spec := range job.Spec.TorchReplicaSpecs {
		spec.Template.Spec.Containers[0].Command[0] = harness.Self(w.T)
	}
	return job
}

// waitState waits until a job is in a state.
func (w *world) waitState(job *v1.TorchJob, state v1alpha1.ReplicaJobState) {
	w.T.Helper()
	w.Eventually(job.Name+" is "+string(state), func() bool {
		w.Get(job.Name, job)
		return job.Status.State == state
	})
}

func TestRanksAgreeOnTheSum(t *testing.T) {
	w := newWorld(t)
	job := w.sample()
	require.NoError(t, w.Client.Create(t.Context(), job))
	w.waitState(job, v1alpha1.ReplicaJobSucceeded)
	require.Equal(t, "2 of 4 ranks are here\n3 of 4 ranks are here\n4 of 4 ranks are here\nrank 0 of 4: the sum is 10", w.Logs("allreduce-master-0"))
}

func TestAnElasticJobTakesWhoComes(t *testing.T) {
	w := newWorld(t)
	job := w.sample()
	job.Name = "elastic"
	worker := job.Spec.TorchReplicaSpecs["Worker"]
	worker.Replicas = ptr.To[int32](1)
	job.Spec.TorchReplicaSpecs["Worker"] = worker
	job.Spec.ElasticPolicy = &v1.ElasticPolicy{MinReplicas: 1, MaxReplicas: 3}
	job.Spec.RunPolicy.CleanPodPolicy = v1alpha1.CleanPodNone
	tooMany := job.DeepCopy()
	tooMany.Spec.TorchReplicaSpecs["Worker"] = v1alpha1.ReplicaSpec{Replicas: ptr.To[int32](4), Template: worker.Template}
	require.ErrorContains(t, w.Client.Create(t.Context(), tooMany), "elasticPolicy.minReplicas to maxReplicas")
	require.NoError(t, w.Client.Create(t.Context(), job))
	w.Eventually("one worker is there", func() bool {
		w.Get(job.Name, job)
		return job.Status.ReplicaStatuses["Worker"].Active == 1
	})
	pod := &corev1.Pod{}
	w.Get("elastic-worker-0", pod)
	uid := pod.UID

	scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":3}}`))
	require.NoError(t, w.Client.SubResource("scale").Patch(t.Context(), job.DeepCopy(), scale))
	w.waitState(job, v1alpha1.ReplicaJobSucceeded)
	require.Contains(t, w.Logs("elastic-master-0"), "rank 0 of 4: the sum is 10")
	w.Get("elastic-worker-0", pod)
	require.Equal(t, uid, pod.UID, "who was there stays")
}
