package testcluster_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		startAndHang()
	}
	os.Exit(testcluster.Run(m, testcluster.WithNodes(), testcluster.WithFakeNodes(1)))
}

func TestConfigIsACopy(t *testing.T) {
	first := testcluster.Config(t)
	first.Host = "changed"
	assert.NotEqual(t, first.Host, testcluster.Config(t).Host)
}

func TestKubeconfigLeadsToTheSameCluster(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", testcluster.Kubeconfig(t))
	require.NoError(t, err)
	assert.Equal(t, testcluster.Config(t).Host, config.Host)
}

func TestClientAndKubectlLeadToTheSameCluster(t *testing.T) {
	widgets := schema.GroupVersion{Group: "testcluster.armature.dev", Version: "v1"}
	c := testcluster.Client(t, func(s *runtime.Scheme) error { metav1.AddToGroupVersion(s, widgets); return nil })
	assert.True(t, c.Scheme().IsVersionRegistered(widgets))
	said := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: testcluster.Namespace(t), Name: "said"}, Data: map[string]string{"word": "hello"},
	}
	require.NoError(t, c.Create(t.Context(), said))
	out, err := testcluster.Kubectl(t, "get", "configmap", "said", "-n", said.Namespace, "-o", "jsonpath={.data.word}")
	require.NoError(t, err, out)
	assert.Equal(t, "hello", out)

	out, err = testcluster.Kubectl(t, "get", "configmap", "unsaid", "-n", said.Namespace)
	assert.Error(t, err)
	assert.Contains(t, out, `configmaps "unsaid" not found`)
}

func TestNamespaceTakesPodsUntilTheTestEnds(t *testing.T) {
	client, err := kubernetes.NewForConfig(testcluster.Config(t))
	require.NoError(t, err)
	var name string
	t.Run("A long name, with (odd) characters that a namespace can't have", func(t *testing.T) {
		name = testcluster.Namespace(t)
		assert.NotEqual(t, name, testcluster.Namespace(t), "each call makes another one")
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
		}
		_, err := client.CoreV1().Pods(name).Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
	})
	pod, err := client.CoreV1().Pods(name).Get(t.Context(), "p", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		assert.NotNil(t, pod.DeletionTimestamp)
	}
}

func TestInstalledCRDsAreServed(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/crds")
	testcluster.InstallCRDs(t, "test/testcluster/testdata/crds") // again, from the repository's root
	known, err := discovery.NewDiscoveryClientForConfig(testcluster.Config(t))
	require.NoError(t, err)
	_, err = known.ServerResourcesForGroupVersion("testcluster.armature.dev/v1")
	require.NoError(t, err, "also by discovery, which comes a moment later")
	client, err := dynamic.NewForConfig(testcluster.Config(t))
	require.NoError(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: "testcluster.armature.dev", Version: "v1", Resource: "widgets"})
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "testcluster.armature.dev/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w"},
		"spec":     map[string]any{"size": int64(0)},
	}}
	namespace := testcluster.Namespace(t)
	_, err = widgets.Namespace(namespace).Create(t.Context(), widget, metav1.CreateOptions{})
	assert.ErrorContains(t, err, "spec.size")
	require.NoError(t, unstructured.SetNestedField(widget.Object, int64(1), "spec", "size"))
	_, err = widgets.Namespace(namespace).Create(t.Context(), widget, metav1.CreateOptions{})
	require.NoError(t, err)
}
