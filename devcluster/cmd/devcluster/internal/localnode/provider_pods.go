package localnode

import (
	"context"
	"os"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/volumes"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/tree"
)

// tokenPeriod is how often expiring tokens are looked at. They are renewed when
// four fifths of their life are over; the shortest life is ten minutes.
const tokenPeriod = time.Minute

func (p *provider) find(uid types.UID) *tracked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byUID[uid]
}

// current is the pod of that name that the API has. If the API has one of the
// same name but another UID, virtual-kubelet is about to create that.
func (p *provider) current(namespace, name string) (*tracked, error) {
	p.mu.Lock()
	t := p.byName[types.NamespacedName{Namespace: namespace, Name: name}]
	p.mu.Unlock()
	if t != nil {
		if pod, err := p.lister.Pods(namespace).Get(name); err != nil || pod.UID == t.uid {
			return t, nil
		}
	}
	return nil, errdefs.NotFoundf("pod %s/%s does not run on this node", namespace, name)
}

// inAPI is the pod as the API has it, nil if it does not.
func (p *provider) inAPI(namespace, name string, uid types.UID) *corev1.Pod {
	pod, err := p.lister.Pods(namespace).Get(name)
	if err != nil || pod.UID != uid {
		return nil
	}
	return pod
}

// GetPod implements vknode.PodLifecycleHandler.
func (p *provider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	t, err := p.current(namespace, name)
	if err != nil {
		return nil, err
	}
	return t.Object(), nil
}

// GetPodStatus implements vknode.PodLifecycleHandler.
func (p *provider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

// GetPods implements vknode.PodLifecycleHandler.
func (p *provider) GetPods(context.Context) ([]*corev1.Pod, error) {
	var all []*corev1.Pod
	for _, t := range p.all() {
		all = append(all, t.Object())
	}
	return all, nil
}

func (p *provider) all() []*tracked {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*tracked, 0, len(p.byUID))
	for _, t := range p.byUID {
		all = append(all, t)
	}
	return all
}

// clean forgets a pod that is gone from the API and from this machine.
func (p *provider) clean(t *tracked) {
	p.mu.Lock()
	delete(p.byUID, t.uid)
	if p.byName[t.name] == t {
		delete(p.byName, t.name)
	}
	p.mu.Unlock()
	p.client.forget(t.uid)
	p.addresses.release(t.IP())
	object := t.Object()
	if err := p.hosts.Remove(object); err != nil {
		logger{}.WithError(err).Errorf("remove pod %s from the hosts", t.name)
	}
	p.host.Tokens.(interface{ DeleteServiceAccountToken(types.UID) }).DeleteServiceAccountToken(t.uid)
	if err := tree.Remove(pods.Dir(p.host.Dir, object)); err != nil {
		logger{}.WithError(err).Errorf("remove the directory of pod %s", t.name)
	}
}

// cleanDirs removes what an earlier node left of pods that are gone.
func (p *provider) cleanDirs() {
	known := map[string]bool{}
	all, _ := p.lister.List(labels.Everything())
	for _, pod := range all {
		known[string(pod.UID)] = true
	}
	entries, _ := os.ReadDir(p.host.Dir)
	for _, entry := range entries {
		if !known[entry.Name()] {
			_ = tree.Remove(p.host.Dir + "/" + entry.Name())
		}
	}
}

// events is what the provider has to know of the API besides what
// virtual-kubelet's controller tells it: that controller does not look at status
// changes, and overlooks deletions that happened during an interrupted watch. A pod
// that was deleted and made again meanwhile comes as one update.
func (p *provider) events() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, updated any) {
			pod := updated.(*corev1.Pod)
			if pod.UID != old.(*corev1.Pod).UID {
				p.replaced(pod)
			} else if t := p.find(pod.UID); t != nil && len(pod.Spec.ReadinessGates) > 0 {
				t.Update(pod)
			}
		},
		DeleteFunc: func(deleted any) {
			if unknown, ok := deleted.(cache.DeletedFinalStateUnknown); ok {
				deleted = unknown.Obj
			}
			pod := deleted.(*corev1.Pod)
			if t := p.find(pod.UID); t != nil {
				p.dropped(t)
			} else {
				_ = tree.Remove(pods.Dir(p.host.Dir, pod)) // it finished under an earlier node
			}
		},
	}
}

// replaced starts a pod that has taken the name of another.
func (p *provider) replaced(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil || podutil.IsPodPhaseTerminal(pod.Status.Phase) {
		return // the controller handles deletions by itself
	}
	if err := p.start(pod.DeepCopy(), nil); err != nil {
		logger{}.WithError(err).Errorf("start pod %s/%s", pod.Namespace, pod.Name)
	}
}

// objectChanged passes a change of a ConfigMap or Secret on to the pods that use it.
func (p *provider) objectChanged(namespace string, uses func(*corev1.Pod) bool) {
	for _, t := range p.all() {
		if t.name.Namespace == namespace && uses(t.Object()) {
			t.Poke()
			go p.refresh(t)
		}
	}
}

func (p *provider) refresh(t *tracked) {
	if err := t.Refresh(p.ctx); err != nil && p.ctx.Err() == nil {
		logger{}.WithError(err).Warnf("pod %s keeps the old content of its volumes", t.name)
	}
}

// renewTokens keeps the tokens in volumes fresh until the node stops.
func (p *provider) renewTokens() {
	ticker := time.NewTicker(tokenPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		for _, t := range p.all() {
			if volumes.UsesTokens(t.Object()) {
				p.refresh(t)
			}
		}
	}
}
