// Package tfjob_test runs the example's operator on a real API server, and its ranks on local nodes.
package tfjob_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	v1 "github.com/armature-dev/armature/examples/tfjob/api/v1"
	"github.com/armature-dev/armature/examples/tfjob/operator"
	"github.com/armature-dev/armature/examples/tfjob/train"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = 50 * time.Millisecond
	root      = "../../.."
)

// TestMain lets this binary be a rank as well: it is the command of the pods, as any machine has it.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		if err := train.Run(ctrl.SetupSignalHandler()); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1", "node-2")))
}

// world is a running operator and a namespace.
type world struct {
	*testing.T
	client    client.Client
	namespace string
}

func newWorld(t *testing.T) *world {
	testcluster.InstallCRDs(t, "examples/tfjob/config")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	c, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	mgr, err := ctrl.NewManager(testcluster.Config(t), ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true), Unstructured: true}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(t, err)
	require.NoError(t, operator.Setup(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return &world{T: t, client: c, namespace: testcluster.Namespace(t)}
}

// sample returns the example's job, with this binary as its command.
func (w *world) sample() *v1.TFJob {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples/tfjob/sample.yaml"))
	require.NoError(w, err)
	job := &v1.TFJob{}
	require.NoError(w, yaml.UnmarshalStrict(text, job))
	job.Namespace = w.namespace
	self, err := os.Executable()
	require.NoError(w, err)
	for _, spec := range job.Spec.TFReplicaSpecs {
		spec.Template.Spec.Containers[0].Command[0] = self
	}
	return job
}

// waitState waits until a job is in a state.
func (w *world) waitState(job *v1.TFJob, state v1alpha1.ReplicaJobState) {
	w.Helper()
	require.Eventually(w, func() bool {
		require.NoError(w, w.client.Get(w.Context(), client.ObjectKeyFromObject(job), job))
		return job.Status.State == state
	}, patience, pollEvery, "%s is %s", job.Name, state)
}

// log returns what a pod printed.
func (w *world) log(pod string) string {
	w.Helper()
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = filepath.Join(root, "bin", "devcluster")
	}
	out, err := exec.CommandContext(w.Context(), binary, "kubectl", "--kubeconfig", testcluster.Kubeconfig(w), "-n", w.namespace, "logs", pod).CombinedOutput()
	require.NoError(w, err, string(out))
	return strings.TrimSpace(string(out))
}

func TestWorkersTrainAtParameterServers(t *testing.T) {
	w := newWorld(t)
	job := w.sample()
	require.NoError(t, w.client.Create(t.Context(), job))
	w.waitState(job, v1alpha1.ReplicaJobSucceeded)
	require.Equal(t, "chief: 2 workers made 3 at each of 2 parameter servers", w.log("train-chief-0"))
	require.Eventually(t, func() bool { // parameter servers never end by themselves
		var pods corev1.PodList
		require.NoError(t, w.client.List(t.Context(), &pods, client.InNamespace(w.namespace)))
		for _, pod := range pods.Items {
			if strings.HasPrefix(pod.Name, "train-ps-") {
				return false
			}
		}
		return true
	}, patience, pollEvery)

	wrong := w.sample()
	wrong.Name = "wrong"
	wrong.Spec.TFReplicaSpecs["Driver"] = wrong.Spec.TFReplicaSpecs["Chief"]
	delete(wrong.Spec.TFReplicaSpecs, "Chief")
	require.ErrorContains(t, w.client.Create(t.Context(), wrong), "the types are Chief, PS, Worker and Evaluator")
}
