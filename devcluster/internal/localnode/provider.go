package localnode

import (
	"context"
	"sync"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/armature-dev/armature/devcluster/internal/localnode/pods"
)

// goneGrace is how long containers get when their pod is not in the API any more.
const goneGrace = time.Second

// provider runs the pods that virtual-kubelet's pod controller hands it.
type provider struct {
	ctx       context.Context // ends when the node stops
	host      *pods.Host
	addresses *addresses
	client    *podClient
	lister    corev1listers.PodLister
	notify    func(*corev1.Pod)

	running sync.WaitGroup

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

func newProvider(ctx context.Context, host *pods.Host, a *addresses, client *podClient, lister corev1listers.PodLister) *provider {
	p := &provider{
		ctx: ctx, host: host, addresses: a, client: client, lister: lister,
		byUID: map[types.UID]*tracked{}, byName: map[types.NamespacedName]*tracked{},
	}
	client.provider = p
	return p
}

// NotifyPods implements vknode.PodNotifier.
func (p *provider) NotifyPods(_ context.Context, notify func(*corev1.Pod)) { p.notify = notify }

// CreatePod starts a pod. One of the same name that still runs was force-deleted:
// the new pod does not wait for its end.
func (p *provider) CreatePod(_ context.Context, pod *corev1.Pod) error {
	_, err := p.start(pod, nil)
	return err
}

// start tracks and runs a pod; before is called just before it runs.
func (p *provider) start(pod *corev1.Pod, before func(*tracked)) (*tracked, error) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	p.mu.Lock()
	known, other := p.byUID[pod.UID], p.byName[name]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if other != nil {
		p.dropped(other)
	}

	ip := nodeIP
	if !pod.Spec.HostNetwork {
		var err error
		if ip, err = p.addresses.take(pod.Status.PodIP); err != nil {
			return nil, err
		}
	}
	p.client.seed(pod)
	t := &tracked{Pod: pods.New(p.host, pod, ip, p.notify), uid: pod.UID, name: name}
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
	return t, nil
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

// DeletePod ends a pod: within its grace period if the API waits for it, soon if
// the API has dropped it.
func (p *provider) DeletePod(_ context.Context, pod *corev1.Pod) error {
	t := p.find(pod.UID)
	inAPI := p.inAPI(pod.Namespace, pod.Name, pod.UID)
	switch {
	case t == nil && inAPI == nil:
		return errdefs.NotFoundf("pod %s/%s does not run on this node", pod.Namespace, pod.Name)
	case t == nil:
		// It was running when the node stopped, and was deleted meanwhile.
		_, err := p.start(inAPI, func(t *tracked) {
			t.deleting = true
			t.Terminate(0)
		})
		return err
	case inAPI == nil:
		p.dropped(t)
	default:
		p.delete(t, inAPI)
	}
	return nil
}

// deleted is podClient's delete: virtual-kubelet believes that the pod is over.
func (p *provider) deleted(ctx context.Context, namespace, name string, uid types.UID) error {
	t := p.find(uid)
	if t == nil {
		return p.client.remove(ctx, namespace, name, uid)
	}
	if inAPI := p.inAPI(namespace, name, uid); inAPI != nil {
		p.delete(t, inAPI)
	}
	return nil
}

// delete ends a pod and then removes it from the API.
func (p *provider) delete(t *tracked, inAPI *corev1.Pod) {
	p.mu.Lock()
	t.deleting = true
	p.mu.Unlock()
	grace := goneGrace
	if s := inAPI.DeletionGracePeriodSeconds; s != nil {
		grace = max(grace, time.Duration(*s)*time.Second)
	}
	t.Update(inAPI)
	t.Terminate(grace)
	select {
	case <-t.Done():
		go p.remove(t)
	default: // ended removes it
	}
}

// remove writes the last status of a finished pod and deletes it from the API. A
// pod with finalizers stays there, with its status, until they are gone.
func (p *provider) remove(t *tracked) {
	p.mu.Lock()
	again := t.removing
	t.removing = true
	p.mu.Unlock()
	if again {
		return
	}
	wait := 50 * time.Millisecond
	for p.ctx.Err() == nil {
		err := p.client.writeStatus(p.ctx, t.Object())
		if err == nil {
			err = p.client.remove(p.ctx, t.name.Namespace, t.name.Name, t.uid)
		}
		if err == nil {
			return // its directory goes when the API has dropped it
		}
		logger{}.WithError(err).Errorf("remove pod %s from the API", t.name)
		select {
		case <-p.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// dropped ends a pod that the API does not have any more.
func (p *provider) dropped(t *tracked) {
	p.mu.Lock()
	again := t.gone
	t.gone = true
	p.mu.Unlock()
	t.Terminate(goneGrace)
	select {
	case <-t.Done():
		if !again {
			p.clean(t)
		}
	default: // ended cleans up
	}
}
