package localnode

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/token"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/devcluster/internal/localnode/hosts"
	"github.com/armature-dev/armature/devcluster/internal/localnode/podenv"
	"github.com/armature-dev/armature/devcluster/internal/localnode/pods"
)

// cluster is a fake API server with one node.
type cluster struct {
	*testing.T
	client *fake.Clientset
	node   *localNode
	dir    string
	stop   func() // stops the node and waits for its end
}

// newCluster starts a node in an empty cluster.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{T: t, client: fake.NewClientset(), dir: t.TempDir()}
	c.client.PrependReactor("create", "subjectaccessreviews", allowAPIServer)
	c.start()
	return c
}

// start starts the node, also again after stop.
func (c *cluster) start() {
	c.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, _ := url.Parse("https://127.0.0.1:6443")
	sh := &shared{
		client: c.client, authority: testAuthority(c.T), objects: podenv.Live{Client: c.client}, tokens: token.NewManager(c.client),
		factory: informers.NewSharedInformerFactory(c.client, 0), hosts: hosts.New(filepath.Join(c.dir, ".hosts")),
	}
	host := &pods.Host{
		NodeName: "node-1", IP: nodeIP, Dir: filepath.Join(c.dir, "node-1", "pods"), APIServer: server, Client: c.client,
		Objects: sh.objects, Tokens: sh.tokens, Events: &record.FakeRecorder{}, Clock: clock.RealClock{}, Hosts: sh.hosts.Path, Starts: make(chan struct{}, 8),
	}
	n, err := newLocalNode(ctx, sh, host, newAddresses(c.dir, 0), nil)
	if err != nil {
		c.Fatal(err)
	}
	if err := watchObjects(sh.factory, []*localNode{n}); err != nil {
		c.Fatal(err)
	}
	sh.factory.StartWithContext(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := n.run(ctx); err != nil {
			c.Error(err)
		}
	}()
	c.node = n
	c.stop = func() {
		cancel()
		<-done
		sh.factory.Shutdown()
	}
	c.Cleanup(func() { c.stop() })
	<-n.pods.Ready()
}

func (c *cluster) until(what string, ok func() bool) {
	c.Helper()
	for end := time.Now().Add(120 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			c.Fatalf("%s: did not happen in time", what)
		}
	}
}

func (c *cluster) create(pod *corev1.Pod) {
	c.Helper()
	if _, err := c.client.CoreV1().Pods(pod.Namespace).Create(c.Context(), pod, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// get is the pod as the API has it, nil if it does not.
func (c *cluster) get(name string) *corev1.Pod {
	pod, err := c.client.CoreV1().Pods("ns").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

func (c *cluster) phase(name string) corev1.PodPhase {
	if pod := c.get(name); pod != nil {
		return pod.Status.Phase
	}
	return ""
}

// change updates a pod in the API.
func (c *cluster) change(name string, change func(*corev1.Pod)) {
	c.Helper()
	pod := c.get(name).DeepCopy()
	change(pod)
	if _, err := c.client.CoreV1().Pods("ns").Update(c.Context(), pod, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// logged is the log of the container "main".
func (c *cluster) logged(name string) string {
	pod := c.get(name)
	if pod == nil {
		return ""
	}
	var out strings.Builder
	var live *pods.Pod
	if t := c.node.provider.find(pod.UID); t != nil {
		live = t.Pod
	}
	_ = pods.Logs(context.Background(), &out, c.node.host.Dir, pod, live, "main", &corev1.PodLogOptions{})
	return out.String()
}

func makePod(name, uid, script string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](30),
			Containers: []corev1.Container{{
				Name: "main", Image: "image", Command: []string{"/bin/sh", "-c", script}, TerminationMessagePath: "/dev/termination-log",
			}},
		},
	}
}

const waitForTerm = `trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done`
