package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	askAgain  = 10 * time.Second
	pollEvery = 20 * time.Millisecond

	release   = "armature"        // of tests that have the cluster to themselves
	installed = "armature-system" // its namespace
)

var crdKind = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}

// cluster is a cluster as the administrator of a release sees it.
type cluster struct {
	t       *testing.T
	client  client.Client
	release string
	home    string // the namespace of the release
	helm3   bool   // Helm 3 is what it is installed with, rather than Helm 4
	verbs   *verbs // what its managers ask for is noted there, unless it is nil
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{t: t, client: testcluster.Client(t, v1alpha1.AddToScheme), release: release, home: installed}
}

// newRelease returns the cluster for a test that has a release of its own beside others, in a namespace of its own. The CRDs
// are there, and are not the release's.
func newRelease(t *testing.T, name string) *cluster {
	t.Helper()
	c := newCluster(t)
	c.release, c.home = name, testcluster.Namespace(t)
	return c
}

// alone are the values of a release that works beside others: for one namespace, with these operators only.
func alone(namespace string, operators ...string) []string {
	flags := []string{"--set", "crds.install=false", "--set", "watchNamespaces={" + namespace + "}"}
	for _, operator := range []string{"daemonjob", "fluxjob", "jobflow", "minicluster", "replicajob"} {
		if !slices.Contains(operators, operator) {
			flags = append(flags, "--set", "operators."+operator+"=false")
		}
	}
	return flags
}

// The tools, built once, of the modules that pin them.
var (
	helm4Path       = tool("deploy", "helm")
	helm3Path       = tool("helm3", "helm")
	certManagerPath = tool("certmanager", "certmanager")
)

func tool(module, name string) func() (path string, err error) {
	return sync.OnceValues(func() (string, error) {
		out, err := exec.Command("go", "-C", "../../../tools/"+module, "tool", "-n", name).Output()
		return strings.TrimSpace(string(out)), err
	})
}

// helm runs helm on the cluster.
func (c *cluster) helm(args ...string) string {
	c.t.Helper()
	build := helm4Path
	if c.helm3 {
		build = helm3Path
	}
	path, err := build()
	require.NoError(c.t, err)
	cmd := exec.Command(path, append(args, "--namespace", c.home, "--kubeconfig", testcluster.Kubeconfig(c.t))...)
	home, err := os.MkdirTemp("", "helm-")
	require.NoError(c.t, err)
	defer os.RemoveAll(home)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "helm %v: %s", args, out)
	return string(out)
}

// installChart installs a chart as the release, without pods. It is uninstalled when the test ends, if not before.
func (c *cluster) installChart(chart string, flags ...string) {
	c.t.Helper()
	c.t.Cleanup(func() { c.uninstall("--ignore-not-found") })
	c.helm(append([]string{"install", c.release, chart, "--create-namespace", "--set", "replicas=0"}, flags...)...)
	c.awaitKinds()
}

// awaitKinds waits until the kinds are served. The first list of each is put off by a second, while the API server makes its
// cache, so all are asked for at once.
func (c *cluster) awaitKinds() {
	c.t.Helper()
	var waiting sync.WaitGroup
	served := map[client.ObjectList]*atomic.Bool{
		&v1alpha1.DaemonJobList{}: {}, &v1alpha1.FluxJobList{}: {}, &v1alpha1.FluxSetupList{}: {}, &v1alpha1.JobFlowList{}: {},
		&v1alpha1.JobTemplateList{}: {}, &v1alpha1.MiniClusterList{}: {}, &v1alpha1.ReplicaJobList{}: {},
	}
	for list, is := range served {
		waiting.Go(func() {
			is.Store(wait.PollUntilContextTimeout(context.Background(), pollEvery, patience, true, func(ctx context.Context) (bool, error) {
				return c.client.List(ctx, list) == nil, nil
			}) == nil)
		})
	}
	waiting.Wait()
	for list, is := range served {
		require.True(c.t, is.Load(), "not served: %T", list)
	}
}

// uninstall uninstalls the release.
func (c *cluster) uninstall(flags ...string) {
	c.t.Helper()
	c.helm(append([]string{"uninstall", c.release, "--wait"}, flags...)...)
}

// thisChart is the chart as it is now.
func thisChart(t *testing.T) string { return filepath.Join(binary.Root(t), "charts/armature") }

// manager runs the manager that the release's Deployment asks for, as the service account that it names: with the
// Deployment's arguments, but on free ports.
func (c *cluster) manager(change ...string) *binary.Process {
	c.t.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release}, deployment))
	pod := deployment.Spec.Template.Spec
	args := []string{}
	for _, arg := range pod.Containers[0].Args {
		if !strings.Contains(arg, "-bind-address") {
			args = append(args, arg)
		}
	}
	args = append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0", "--kubeconfig", c.kubeconfig(pod.ServiceAccountName, c.verbs))
	return binary.Start(c.t, append(args, change...)...)
}

// noneForbidden fails if the manager was refused something.
func noneForbidden(t *testing.T, p *binary.Process) {
	t.Helper()
	for line := range strings.Lines(p.Log.String()) {
		assert.NotContains(t, strings.ToLower(line), "forbidden")
		assert.NotContains(t, line, "cannot list resource")
	}
}

// token returns a token of a service account in the release's namespace.
func (c *cluster) token(account string) string {
	c.t.Helper()
	clients, err := kubernetes.NewForConfig(testcluster.Config(c.t))
	require.NoError(c.t, err)
	request, err := clients.CoreV1().ServiceAccounts(c.home).CreateToken(c.t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(c.t, err)
	return request.Status.Token
}

// kubeconfig returns a file by which one is a service account in the release's namespace. What it asks for is noted, if there is
// where to.
func (c *cluster) kubeconfig(account string, noted *verbs) string {
	c.t.Helper()
	config, err := clientcmd.LoadFromFile(testcluster.Kubeconfig(c.t))
	require.NoError(c.t, err)
	current := config.Contexts[config.CurrentContext]
	current.Namespace, current.AuthInfo = c.home, account
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{account: {Token: c.token(account)}}
	if noted != nil {
		config.Clusters[current.Cluster] = &clientcmdapi.Cluster{Server: noted.through(c.t), InsecureSkipTLSVerify: true}
	}
	file := filepath.Join(c.t.TempDir(), "kubeconfig")
	require.NoError(c.t, clientcmd.WriteToFile(*config, file))
	return file
}

// crds returns the CRDs of Armature's kinds that are there.
func (c *cluster) crds() []unstructured.Unstructured {
	c.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(crdKind.APIVersion)
	list.SetKind(crdKind.Kind + "List")
	require.NoError(c.t, c.client.List(context.Background(), list))
	var ours []unstructured.Unstructured
	for _, crd := range list.Items {
		if strings.HasSuffix(crd.GetName(), "."+v1alpha1.GroupVersion.Group) {
			ours = append(ours, crd)
		}
	}
	return ours
}

// removeCRDs takes the CRDs away when the test ends, and with them all objects.
func (c *cluster) removeCRDs() {
	c.t.Cleanup(func() {
		for _, crd := range c.crds() {
			require.NoError(c.t, client.IgnoreNotFound(c.client.Delete(context.Background(), &crd)))
		}
		asked := time.Now()
		eventually(c.t, "the CRDs are gone", func() bool {
			left := c.crds()
			if time.Since(asked) > askAgain {
				asked = time.Now()
				c.touch(left)
			}
			return len(left) == 0
		}, c.leftCRDs)
	})
}

// touch changes CRDs that are being deleted, so that the API server looks at them again. If it can't list the objects of one, as
// while their cache begins, its next try may conflict with what it wrote itself (apiextensions-apiserver's crd_finalizer.go takes
// that for someone else's change, and ignores the change of the condition that then arrives): it waits for the resync of 5 minutes.
func (c *cluster) touch(crds []unstructured.Unstructured) {
	for i := range crds {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
		require.NoError(c.t, client.IgnoreNotFound(c.client.Patch(context.Background(), &crds[i], client.RawPatch(types.MergePatchType, patch))))
	}
}

// leftCRDs tells why CRDs are still there: what the API server says of them, and which objects it waits for.
func (c *cluster) leftCRDs() any {
	var left []any
	for _, crd := range c.crds() {
		left = append(left, crd.GetName(), crd.GetDeletionTimestamp(), crd.GetFinalizers(), crd.Object["status"])
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := c.client.List(context.Background(), list); err != nil {
			left = append(left, err.Error())
		}
		for _, obj := range list.Items {
			left = append(left, obj.Object["metadata"])
		}
	}
	return left
}

// isGone reports whether there is no such object.
func (c *cluster) isGone(obj client.Object) bool {
	c.t.Helper()
	err := c.client.Get(context.Background(), client.ObjectKeyFromObject(obj), obj)
	if !apierrors.IsNotFound(err) {
		require.NoError(c.t, err)
	}
	return err != nil
}

// flow creates a JobFlow of scripts that run one after the other.
func (c *cluster) flow(namespace, name string, scripts ...string) *v1alpha1.JobFlow {
	c.t.Helper()
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for i, script := range scripts {
		node := v1alpha1.Flow{Name: fmt.Sprintf("n%d", i), JobTemplate: jobOf(script)}
		if i > 0 {
			node.Dependencies = []string{fmt.Sprintf("n%d", i-1)}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, node)
	}
	require.NoError(c.t, c.client.Create(c.t.Context(), flow))
	return flow
}

func podOf(script string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"devcluster.armature.dev/local": "true"},
		Containers:   []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script}}},
	}}
}

// wait waits until an object is as wanted.
func (c *cluster) wait(obj client.Object, what string, done func() bool) {
	c.t.Helper()
	eventually(c.t, what, func() bool {
		require.NoError(c.t, c.client.Get(context.Background(), client.ObjectKeyFromObject(obj), obj))
		return done()
	})
}

func (c *cluster) waitSucceeded(flow *v1alpha1.JobFlow) {
	c.t.Helper()
	c.wait(flow, flow.Name+" succeeds", func() bool { return flow.Status.State == v1alpha1.StateSucceed })
}

func eventually(t *testing.T, what string, done func() bool, show ...func() any) {
	t.Helper()
	harness.Eventually(t, patience, what, done, show...)
}
