// Package tfjob_test runs the example's operator on a real API server, and its ranks on local nodes.
package tfjob_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	v1 "github.com/armature-dev/armature/examples/tfjob/api/v1"
	"github.com/armature-dev/armature/examples/tfjob/operator"
	"github.com/armature-dev/armature/examples/tfjob/train"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 120 * time.Second

// TestMain lets this binary be a rank as well: it is the command of the pods.
func TestMain(m *testing.M) {
	os.Exit(harness.RunTestsOr(m, "rank", train.Run, testcluster.WithNodes("node-1", "node-2")))
}

// world is a running operator and a namespace.
type world struct{ *harness.Place }

func newWorld(t *testing.T) *world {
	t.Helper()
	p := harness.Connect(t, "TFJob", patience, "examples/tfjob/config", v1.AddToScheme)
	options := p.Options()
	options.Cache.DefaultNamespaces = nil
	options.Client.Cache.Unstructured = true
	mgr := p.NewManager(testcluster.Config(t), options)
	require.NoError(t, operator.Setup(mgr))
	p.Start(mgr)
	return &world{p}
}

// sample returns the example's job, with this binary as its command.
func (w *world) sample() *v1.TFJob {
	w.T.Helper()
	job := &v1.TFJob{}
	w.ReadManifest("../../../examples/tfjob/sample.yaml", job)
	for _, spec := range job.Spec.TFReplicaSpecs {
		spec.Template.Spec.Containers[0].Command[0] = harness.Self(w.T)
	}
	return job
}

// waitState waits until a job is in a state.
func (w *world) waitState(job *v1.TFJob, state v1alpha1.ReplicaJobState) {
	w.T.Helper()
	w.Eventually(job.Name+" is "+string(state), func() bool {
		w.Get(job.Name, job)
		return job.Status.State == state
	})
}

func TestWorkersTrainAtParameterServers(t *testing.T) {
	w := newWorld(t)
	job := w.sample()
	require.NoError(t, w.Client.Create(t.Context(), job))
	w.waitState(job, v1alpha1.ReplicaJobSucceeded)
	require.Equal(t, "chief: 2 workers made 3 at each of 2 parameter servers", w.Logs("train-chief-0"))
	w.Eventually("the parameter servers go, which never end by themselves", func() bool {
		var pods corev1.PodList
		require.NoError(t, w.Client.List(t.Context(), &pods, client.InNamespace(w.Namespace)))
		return !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return strings.HasPrefix(pod.Name, "train-ps-") })
	})

	wrong := w.sample()
	wrong.Name = "wrong"
	wrong.Spec.TFReplicaSpecs["Driver"] = wrong.Spec.TFReplicaSpecs["Chief"]
	delete(wrong.Spec.TFReplicaSpecs, "Chief")
	require.ErrorContains(t, w.Client.Create(t.Context(), wrong), "the types are Chief, PS, Worker and Evaluator")
}
