package localnode

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
)

const (
	// podWorkers is how many pods a node handles at a time. The work is calls to
	// the API server; containers run outside of it.
	podWorkers = 32
	// registerPause is how long a node waits when it could not be registered.
	registerPause = time.Second
)

// localNode is one node.
type localNode struct {
	host     *pods.Host
	shared   *shared
	object   *corev1.Node
	provider *provider
	pods     *vknode.PodController
	factory  informers.SharedInformerFactory // of this node's pods only
	listener net.Listener
	server   *server
}

func newLocalNode(
	ctx context.Context, shared *shared, host *pods.Host, addresses *addresses, labels map[string]string,
) (*localNode, error) {
	if err := os.MkdirAll(host.Dir, 0o700); err != nil {
		return nil, err
	}
	pods.KillLeftovers(host.Dir)
	tls, err := shared.authority.serving(host.NodeName)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeIP, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for the API server: %w", err)
	}
	n := &localNode{host: host, shared: shared, listener: listener}
	n.object = nodeObject(host.NodeName, labels, host.Allocatable, listener.Addr().(*net.TCPAddr).Port)

	mine := fields.OneTermEqualSelector("spec.nodeName", host.NodeName).String()
	n.factory = informers.NewSharedInformerFactoryWithOptions(shared.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = mine
	}))
	informer := n.factory.Core().V1().Pods()
	client := newPodClient(shared.client)
	n.provider = newProvider(ctx, host, addresses, shared.hosts, client, informer.Lister())
	n.server = newServer(shared.client, n.provider, tls)
	n.pods, err = vknode.NewPodController(vknode.PodControllerConfig{
		PodClient:   client,
		PodInformer: informer,
		Provider:    n.provider,
		// Its events say "Create pod in provider successfully". The pods send
		// the events of a kubelet instead.
		EventRecorder:                        &record.FakeRecorder{},
		ConfigMapInformer:                    shared.factory.Core().V1().ConfigMaps(),
		SecretInformer:                       shared.factory.Core().V1().Secrets(),
		ServiceInformer:                      shared.factory.Core().V1().Services(),
		SkipDownwardAPIResolution:            true, // see package podenv
		SyncPodsFromKubernetesRateLimiter:    limiter(),
		DeletePodsFromKubernetesRateLimiter:  limiter(),
		SyncPodStatusFromProviderRateLimiter: limiter(),
	})
	if err != nil {
		listener.Close()
		return nil, err
	}
	return n, nil
}

// limiter slows down retries only. The default one also lets no more than ten
// items a second through, and every status of every pod is an item.
func limiter() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[any](time.Millisecond, 10*time.Second)
}

func (n *localNode) close() { n.listener.Close() }

// run serves the node until ctx ends, and returns when its processes are gone.
func (n *localNode) run(ctx context.Context) error {
	informer := n.factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(n.provider.events()); err != nil {
		return err
	}
	n.factory.StartWithContext(ctx)
	defer n.factory.Shutdown()

	var running sync.WaitGroup
	defer n.provider.running.Wait()
	defer running.Wait()
	running.Go(func() { n.server.serve(ctx, n.listener) })
	running.Go(func() { n.register(ctx) })
	running.Go(n.provider.renewTokens)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil
	}
	n.provider.cleanDirs()
	if err := n.pods.Run(ctx, podWorkers); err != nil && ctx.Err() == nil {
		return fmt.Errorf("pod controller: %w", err)
	}
	return nil
}

// register makes the node object and keeps its status and lease up to date. An
// object of an earlier node of that name is taken over.
func (n *localNode) register(ctx context.Context) {
	nodes := untainted{n.shared.client.CoreV1().Nodes()}
	for ctx.Err() == nil {
		controller, err := vknode.NewNodeController(vknode.NaiveNodeProvider{}, n.object.DeepCopy(), nodes,
			vknode.WithNodeEnableLeaseV1(n.shared.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), vknode.DefaultLeaseDuration),
			vknode.WithNodeStatusUpdateErrorHandler(func(ctx context.Context, err error) error {
				if !apierrors.IsNotFound(err) {
					return err
				}
				_, err = nodes.Create(ctx, n.object.DeepCopy(), metav1.CreateOptions{}) // somebody deleted it
				return err
			}))
		if err == nil {
			err = nodes.takeOver(ctx, n.host.NodeName)
		}
		if err == nil {
			err = n.registered(ctx, controller)
		}
		if err != nil && ctx.Err() == nil {
			logger{}.WithError(err).Errorf("register node %s", n.host.NodeName)
		}
		select {
		case <-ctx.Done():
		case <-time.After(registerPause):
		}
	}
}

// registered runs a node controller. It cannot run twice, and it leaves its
// goroutines behind if it cannot register the node, so it has a context of its own.
func (n *localNode) registered(ctx context.Context, controller *vknode.NodeController) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return controller.Run(ctx)
}
