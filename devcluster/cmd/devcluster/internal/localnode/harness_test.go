package localnode

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/token"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/hosts"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
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
	c.client.PrependReactor("patch", "pods", c.checkUID)
	c.client.PrependReactor("create", "nodes", taintNewNode)
	c.start()
	return c
}

// checkUID refuses a patch meant for another pod of that name, as an API server does;
// the fake client looks at names only.
func (c *cluster) checkUID(action clienttesting.Action) (bool, runtime.Object, error) {
	patch := action.(clienttesting.PatchAction)
	var meant struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(patch.GetPatch(), &meant); err != nil {
		return true, nil, err
	}
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	found, err := c.client.Tracker().Get(resource, patch.GetNamespace(), patch.GetName())
	if err == nil && found.(*corev1.Pod).UID != meant.Metadata.UID {
		err = apierrors.NewConflict(resource.GroupResource(), patch.GetName(), errors.New("the UID is another"))
	}
	return err != nil, nil, err
}

// taintNewNode adds what the admission plugin TaintNodesByCondition adds to every new node.
func taintNewNode(action clienttesting.Action) (bool, runtime.Object, error) {
	node := action.(clienttesting.CreateAction).GetObject().(*corev1.Node)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	return false, nil, nil
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
	err := wait.PollUntilContextTimeout(c.Context(), 2*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		return ok(), nil
	})
	if err != nil {
		c.logPods()
		c.Fatalf("%s: did not happen in time", what)
	}
}

// logPods logs what the API and the node know of the pods.
func (c *cluster) logPods() {
	list, err := c.client.CoreV1().Pods("ns").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.Error(err)
		return
	}
	for i := range list.Items {
		pod := &list.Items[i]
		c.Logf("in the API: %s %s: %+v", pod.Name, pod.UID, pod.Status)
	}
	for _, t := range c.node.provider.all() {
		c.Logf("on the node: %s %s: %+v", t.name, t.uid, t.Object().Status)
	}
	cached, _ := c.node.provider.lister.List(labels.Everything())
	for _, pod := range cached {
		c.Logf("in the informer: %s %s: %s", pod.Name, pod.UID, pod.Status.Phase)
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
