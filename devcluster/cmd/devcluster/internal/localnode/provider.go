package localnode

import (
	"context"
	"sync"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/hosts"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
)

// provider runs the pods that virtual-kubelet's pod controller hands it.
type provider struct {
	ctx       context.Context // ends when the node stops
	host      *pods.Host
	addresses *addresses
	hosts     *hosts.Files
	client    *podClient
	lister    corev1listers.PodLister

	running  sync.WaitGroup
	starting sync.Mutex // held while a pod is made: both the controller and events make pods

	mu sync.Mutex
	// byUID are all pods, also those that are being killed because the API has
	// dropped them; byName are the pods that the API has, or had last.
	byUID  map[types.UID]*tracked
	byName map[types.NamespacedName]*tracked
}

var (
	_ vknode.PodLifecycleHandler = (*provider)(nil)
	_ vknode.PodNotifier         = (*provider)(nil)
)

// tracked is a pod with what is to happen when it has finished.
type tracked struct {
	*pods.Pod
	uid  types.UID
	name types.NamespacedName

	// guarded by the provider's mutex
	deleting bool // the API waits for the pod's end to delete it
	removing bool // it is being removed from the API
	gone     bool // the API does not have it any more
}

func newProvider(
	ctx context.Context, host *pods.Host, a *addresses, names *hosts.Files, client *podClient, lister corev1listers.PodLister,
) *provider {
	p := &provider{
		ctx: ctx, host: host, addresses: a, hosts: names, client: client, lister: lister,
		byUID: map[types.UID]*tracked{}, byName: map[types.NamespacedName]*tracked{},
	}
	client.provider = p
	return p
}

// NotifyPods implements vknode.PodNotifier. virtual-kubelet is told nothing: it keeps
// the last status under the pod's name and loses that of a pod which has taken the
// name of another before its informer's handlers were told. See report.
func (p *provider) NotifyPods(context.Context, func(*corev1.Pod)) {}

// CreatePod starts a pod. One of the same name that still runs was force-deleted:
// the new pod does not wait for its end.
func (p *provider) CreatePod(_ context.Context, pod *corev1.Pod) error {
	return p.start(pod, nil)
}

// start tracks and runs a pod; before is called just before it runs.
func (p *provider) start(pod *corev1.Pod, before func(*tracked)) error {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	p.starting.Lock()
	defer p.starting.Unlock()
	p.mu.Lock()
	known, other := p.byUID[pod.UID], p.byName[name]
	p.mu.Unlock()
	if known != nil {
		return nil
	}
	if other != nil {
		p.dropped(other)
	}

	ip := nodeIP
	if !pod.Spec.HostNetwork {
		var err error
		if ip, err = p.addresses.take(pod.Status.PodIP); err != nil {
			return err
		}
	}
	if err := p.hosts.Add(pod, ip); err != nil {
		return err
	}
	p.client.seed(pod)
	t := &tracked{Pod: pods.New(p.host, pod, ip, p.report), uid: pod.UID, name: name}
	if before != nil {
		before(t)
	}
	p.mu.Lock()
	p.byUID[t.uid], p.byName[name] = t, t
	p.mu.Unlock()
	p.running.Go(func() {
		t.Run(p.ctx)
		p.ended(t)
	})
	return nil
}

// ended does what had to wait for the pod's end.
func (p *provider) ended(t *tracked) {
	if p.ctx.Err() != nil {
		return // the next node with this name continues the pod
	}
	p.mu.Lock()
	deleting, gone := t.deleting, t.gone
	p.mu.Unlock()
	switch {
	case gone:
		p.clean(t)
	case deleting:
		p.remove(t)
	}
}

// UpdatePod takes over changes of the pod.
func (p *provider) UpdatePod(_ context.Context, pod *corev1.Pod) error {
	if t := p.find(pod.UID); t != nil {
		t.Update(pod)
		go p.refresh(t)
		return nil
	}
	return errdefs.NotFoundf("pod %s/%s does not run on this node", pod.Namespace, pod.Name)
}
