package pods

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/volumes"
)

// Pod is one pod on this node.
type Pod struct {
	host    *Host
	name    string // for messages
	uid     types.UID
	dir     string
	ip      string
	volumes *volumes.Set
	notify  func(*corev1.Pod)

	init    []*container // in order, sidecars among them
	regular []*container

	deadline *deadline     // when what still runs is killed, once stopping
	stopping chan struct{} // closed when the pod is told to end
	done     chan struct{} // closed when Run has returned
	dirty    chan struct{} // holds an element when the status has to be sent

	mu       sync.Mutex
	object   *corev1.Pod   // the pod as the API has it, with the status of this node
	poked    chan struct{} // closed and replaced when something outside has changed
	prepared bool          // volumes and address are there
	finished bool          // no container runs or will run again
	quiet    bool          // the node is stopping: no status is sent any more
	failure  *failure      // why the pod failed, if its containers are not why
	cannot   error         // why no container of the pod can ever run
}

type failure struct{ reason, message string }

// New makes a pod from its API object. If the object or the pod's directory show
// that the pod has run before, it continues from there.
func New(host *Host, object *corev1.Pod, ip string, notify func(*corev1.Pod)) *Pod {
	p := &Pod{
		host: host, dir: Dir(host.Dir, object), ip: ip, notify: notify,
		name:     fmt.Sprintf("%s_%s(%s)", object.Name, object.Namespace, object.UID),
		uid:      object.UID,
		deadline: newDeadline(host.Clock),
		stopping: make(chan struct{}), done: make(chan struct{}), dirty: make(chan struct{}, 1),
		object: object.DeepCopy(), poked: make(chan struct{}),
	}
	p.volumes = volumes.New(filepath.Join(p.dir, "volumes"), volumes.Sources{
		Client: host.Client, Objects: host.Objects, Tokens: host.Tokens, Allocatable: host.Allocatable,
	})
	for i := range p.object.Spec.InitContainers {
		spec := &p.object.Spec.InitContainers[i]
		kind := initKind
		if podutil.IsRestartableInitContainer(spec) {
			kind = sidecarKind
		}
		p.init = append(p.init, newContainer(p, spec, kind, p.object.Status.InitContainerStatuses))
	}
	for i := range p.object.Spec.Containers {
		p.regular = append(p.regular, newContainer(p, &p.object.Spec.Containers[i], regularKind, p.object.Status.ContainerStatuses))
	}
	if p.object.Status.StartTime == nil {
		now := p.now()
		p.object.Status.StartTime = &now
	}
	p.object.Status.Message, p.object.Status.Reason = "", ""
	p.mu.Lock()
	p.setStatus()
	p.mu.Unlock()
	return p
}

// Dir is where a pod keeps its files, below the directory of all pods.
func Dir(dir string, pod *corev1.Pod) string { return filepath.Join(dir, string(pod.UID)) }

// Object returns a copy of the pod with its current status.
func (p *Pod) Object() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.object.DeepCopy()
}

// IP is the pod's address.
func (p *Pod) IP() string { return p.ip }

// Done is closed when the pod's last process is gone and its last status is set.
func (p *Pod) Done() <-chan struct{} { return p.done }

// Update takes over what may change in a pod: its metadata, its deadline, and the
// conditions that others set.
func (p *Pod) Update(object *corev1.Pod) {
	p.mu.Lock()
	status := p.object.Status
	p.object = object.DeepCopy()
	foreign := p.object.Status.Conditions
	p.object.Status = status
	p.object.Status.Conditions = MergeForeign(status.Conditions, foreign)
	p.mu.Unlock()
	p.changed()
	p.Poke()
}

// Poke says that something the pod may depend on has changed: what waits for it
// tries again.
func (p *Pod) Poke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.poked)
	p.poked = make(chan struct{})
}

func (p *Pod) nextPoke() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.poked
}

// Refresh brings the volumes with content from the API up to date.
func (p *Pod) Refresh(ctx context.Context) error { return p.volumes.Refresh(ctx, p.Object()) }

// Terminate tells the pod to end within the grace period. Called again, it can
// only shorten the time.
func (p *Pod) Terminate(grace time.Duration) {
	p.deadline.shorten(p.host.Clock.Now().Add(grace))
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isClosed(p.stopping) {
		close(p.stopping)
	}
}

func (p *Pod) isStopping() bool { return isClosed(p.stopping) }

// grace is the pod's own termination grace period.
func (p *Pod) grace() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.object.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

// changed has the status sent.
func (p *Pod) changed() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}
