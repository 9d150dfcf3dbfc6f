package devcluster_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/armature-dev/armature/devcluster"
)

const (
	pollEvery = 20 * time.Millisecond
	patience  = 10 * time.Minute
)

// helperEnv makes this test binary a program that starts a cluster and then hangs, to be killed.
const helperEnv = "DEVCLUSTER_TEST_HANG"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		cluster, err := devcluster.Up(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%s\n%s\n", cluster.Kubeconfig(), cluster.Config().Host)
		select {}
	}
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// requireGone waits until the cluster's port is closed and its directory is deleted.
func requireGone(t *testing.T, host, dir string) {
	t.Helper()
	server, err := url.Parse(host)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	}, patience, pollEvery, "%s is deleted", dir)
	_, err = net.Dial("tcp", server.Host)
	require.Error(t, err, "the port is closed")
}

// What envtest hasn't got: controllers, a scheduler, a node, garbage collection, and the end of a namespace.
func TestControllersWork(t *testing.T) {
	client := clientOf(t, devcluster.Start(t, devcluster.Shared()))
	labels := map[string]string{"app": "web"}
	_, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "controllers"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.AppsV1().Deployments("controllers").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		web, err := client.AppsV1().Deployments("controllers").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && web.Status.ReadyReplicas == 1
	}, patience, pollEvery, "its pod is scheduled and ready")

	require.NoError(t, client.AppsV1().Deployments("controllers").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		pods, err := client.CoreV1().Pods("controllers").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	}, patience, pollEvery, "its pods are collected")
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "controllers", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), "controllers", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, patience, pollEvery, "the namespace is deleted")
}

func TestSharedClusterIsOneForTheSameOptions(t *testing.T) {
	first := devcluster.Start(t, devcluster.Shared())
	first.UserAgent = "changed"
	second := devcluster.Start(t, devcluster.Shared())
	assert.Equal(t, first.Host, second.Host)
	assert.NotEqual(t, first.UserAgent, second.UserAgent, "a connection of one's own")
}

func TestAddUserHasOnlyWhatItIsGranted(t *testing.T) {
	cluster := devcluster.StartCluster(t, devcluster.Shared())
	config, err := cluster.AddUser("jane", "developers")
	require.NoError(t, err)
	reviews := clientOf(t, config).AuthenticationV1().SelfSubjectReviews()
	who, err := reviews.Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "jane", who.Status.UserInfo.Username)
	assert.Contains(t, who.Status.UserInfo.Groups, "developers")
	_, err = clientOf(t, config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}

func TestKubectlReachesTheCluster(t *testing.T) {
	out, err := devcluster.StartCluster(t, devcluster.Shared()).Kubectl(t.Context(), "get", "nodes", "-o", "name")
	require.NoError(t, err, out)
	assert.Equal(t, "node/fake-0\n", out)
}

func TestClusterStopsAtTheEndOfItsTest(t *testing.T) {
	var host, dir string
	t.Run("a test", func(t *testing.T) {
		cluster := devcluster.StartCluster(t)
		host, dir = cluster.Config().Host, filepath.Dir(cluster.Kubeconfig())
	})
	requireGone(t, host, dir)
}

func TestClusterStopsWithAKilledTest(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	// A cluster of its own, even when the environment names one for the other tests.
	cmd.Env = append(os.Environ(), helperEnv+"=1", "DEVCLUSTER_KUBECONFIG=")
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan(), "the helper says where its cluster is")
	dir := filepath.Dir(lines.Text())
	require.True(t, lines.Scan())
	host := lines.Text()
	require.DirExists(t, dir)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	requireGone(t, host, dir)
}

func TestUpSaysWhyThereIsNoCluster(t *testing.T) {
	_, err := devcluster.Up(t.Context(), devcluster.WithFlags("--nodes=many"))
	require.ErrorContains(t, err, "did not start a cluster")
	require.ErrorContains(t, err, "many")
	_, err = devcluster.Up(t.Context(), devcluster.WithFlags("--apiserver-flag=no-such-flag=1"))
	require.ErrorContains(t, err, "no-such-flag", "of the log of the component")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = devcluster.Up(ended)
	require.ErrorIs(t, err, context.Canceled)
}
