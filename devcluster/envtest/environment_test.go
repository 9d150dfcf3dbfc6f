package envtest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/devcluster"
	"github.com/armature-dev/armature/devcluster/envtest"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// One Environment as a suite of kubebuilder has it: CRDs, webhooks, users, flags, and where binaries would be.
func TestEnvironmentOfASuite(t *testing.T) {
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("testdata", "crds")},
		ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: "bin/k8s",
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join("..", "testdata", "webhooks")}},
	}
	env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "AlwaysPullImages")
	env.Use(devcluster.WithFakeNodes(2))
	config, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	assert.Equal(t, config.Host, env.Config.Host)
	assert.NotEmpty(t, env.KubeConfig)
	assert.Nil(t, env.UseExistingCluster, "as it was")

	typed, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	nodes, err := typed.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, nodes.Items, 2, "the option of Use")
	pod, err := typed.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", ImagePullPolicy: corev1.PullNever}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PullAlways, pod.Spec.Containers[0].ImagePullPolicy, "the flag of the API server")

	serve(t, env.WebhookInstallOptions)
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "default"},
	}}
	require.ErrorContains(t, c.Create(t.Context(), widget), "not today", "the validating webhook")

	jane, err := env.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	require.NoError(t, err)
	janes, err := kubernetes.NewForConfig(jane.Config())
	require.NoError(t, err)
	_, err = janes.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, `User "jane"`)
	kubectl, err := jane.Kubectl()
	require.NoError(t, err)
	out, _, err := kubectl.Run("auth", "whoami")
	require.NoError(t, err)
	said := make([]byte, 4096)
	n, _ := out.Read(said)
	assert.Contains(t, string(said[:n]), "jane")
}

// The kubeconfig that the environment names is in a directory of its user, such as ~/.kube.
func TestEnvironmentLeavesNothingBesideAKubeconfigOfTheUser(t *testing.T) {
	kubeconfig, err := os.ReadFile(devcluster.StartCluster(t).Kubeconfig())
	require.NoError(t, err)
	home := t.TempDir()
	file := filepath.Join(home, "config")
	require.NoError(t, os.WriteFile(file, kubeconfig, 0o600))
	t.Setenv("DEVCLUSTER_KUBECONFIG", file)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	env := &envtest.Environment{}
	_, err = env.Start()
	require.NoError(t, err)
	out, err := exec.Command(env.ControlPlane.KubectlPath, "--kubeconfig", file, "get", "nodes", "-o", "name").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "node/fake-0\n", string(out))
	assert.NotEqual(t, home, env.ControlPlane.GetAPIServer().CertDir, "where envtest writes the kubeconfigs of users")
	require.NoError(t, env.Stop())
	for _, dir := range []string{home, temporary} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			assert.Equal(t, "config", entry.Name(), "in %s", dir)
		}
	}
}

// serve runs a webhook server that changes nothing and refuses everything.
func serve(t *testing.T, options envtest.WebhookInstallOptions) {
	t.Helper()
	server := webhook.NewServer(webhook.Options{
		Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
	})
	answer := func(response admission.Response) http.Handler {
		return &webhook.Admission{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return response })}
	}
	server.Register("/mutate", answer(admission.Allowed("")))
	server.Register("/validate", answer(admission.Denied("not today")))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return server.StartedChecker()(nil) == nil }, 10*time.Minute, 50*time.Millisecond)
}

func TestWhatHasNoMeaningIsRefused(t *testing.T) {
	for field, set := range map[string]func(*envtest.Environment, *envtest.APIServer){
		"DownloadBinaryAssetsVersion": func(e *envtest.Environment, _ *envtest.APIServer) { e.DownloadBinaryAssetsVersion = "1.30.0" },
		"ControlPlane.Etcd":           func(e *envtest.Environment, _ *envtest.APIServer) { e.ControlPlane.Etcd = &envtest.Etcd{} },
		"ControlPlane.APIServer.Path": func(_ *envtest.Environment, s *envtest.APIServer) { s.Path = "/kube-apiserver" },
		"ControlPlane.APIServer.Args": func(_ *envtest.Environment, s *envtest.APIServer) {
			s.Args = []string{"--v=4"} //nolint:staticcheck // It is refused.
		},
		"ControlPlane.APIServer.SecureServing.ListenAddr": func(_ *envtest.Environment, s *envtest.APIServer) {
			s.SecureServing.Port = "6443"
		},
	} {
		t.Run(field, func(t *testing.T) {
			env := &envtest.Environment{}
			set(env, env.ControlPlane.GetAPIServer())
			_, err := env.Start()
			require.ErrorContains(t, err, "Environment."+field+" is set")
		})
	}
}

func TestFailedStartLeavesNoCluster(t *testing.T) {
	env := &envtest.Environment{CRDDirectoryPaths: []string{"nowhere"}, ErrorIfCRDPathMissing: true}
	_, err := env.Start()
	require.ErrorContains(t, err, "nowhere")
	assert.Nil(t, env.Config)
}
