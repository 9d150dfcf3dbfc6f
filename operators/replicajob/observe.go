package replicajob

import (
	"iter"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// observed has the job's replicas, and the pods that are none of them.
type observed struct {
	groups    []*group      // in the order of ranks
	surplus   []*corev1.Pod // the job's pods of no replica: their index is past the replicas, their type or name is unknown
	old       []*corev1.Pod // pods of a former attempt of the whole job
	collected []*corev1.Pod // replicas' pods that the pod garbage collector deletes, unless their node has come back
	released  []*corev1.Pod // pods that we control and whose labels say that they belong to another job, or to none
}

// group is the replicas of one type.
type group struct {
	name     v1alpha1.ReplicaType
	spec     v1alpha1.ReplicaSpec
	recorded v1alpha1.ReplicaStatus
	replicas []replica // by index
}

// replica is the state of one replica, and its pod if there is one.
type replica struct {
	group *group
	index int
	state state
	pod   *corev1.Pod // of this attempt; nil if it is missing
	// recorded is the number of its restarts in the status.
	recorded int32
	// restarts is the observed number of its restarts: the pod's label has the number before the pod, the kubelet counts those
	// since. A failure is among them once it has been counted (see countRestart).
	restarts int32
	// uncounted is how many new restarts don't count against the backoffLimit.
	uncounted int32
}

// state is the state of a replica.
type state int

const (
	missing     state = iota // it has no pod
	terminating              // its name is taken by a pod that is to be deleted, or terminates
	pending                  // its pod has not started
	running                  // its pod runs
	succeeded                // it has succeeded, also if its pod is gone
	failed                   // its pod has failed, and was not deleted
)

// observe assigns each pod to its replica. A pod's name identifies its replica: no one can change it, and no two pods share it.
// The order of the pods doesn't matter. Time is linear in replicas and pods.
func (p *pass) observe(view builder.View) *observed {
	o := &observed{}
	byPrefix := make(map[string]*group, len(p.world.types))
	for _, name := range p.world.types {
		g := p.newGroup(name)
		byPrefix[podPrefix(p.name, name)] = g
		o.groups = append(o.groups, g)
	}
	for _, pod := range builder.Owned[*corev1.Pod](view) {
		prefix, index, ok := indexOf(pod.Name)
		g := byPrefix[prefix]
		if !ok || g != nil && index >= len(g.replicas) {
			g = nil
		}
		switch {
		case !p.owns(pod):
			o.released = append(o.released, pod)
		case g == nil:
			o.surplus = append(o.surplus, pod)
			continue
		case p.attemptOf(pod) < p.last.Restarts:
			o.old = append(o.old, pod)
		default:
			g.replicas[index].observe(pod)
			if isCollected(pod) {
				o.collected = append(o.collected, pod)
			}
			continue
		}
		if g != nil {
			g.replicas[index].state = terminating
		}
	}
	for _, g := range o.groups {
		for i := range v1alpha1.Indexes(g.recorded.SucceededIndexes).Below(len(g.replicas)) {
			g.replicas[i].state = succeeded
		}
	}
	return o
}

// newGroup returns the replicas of a type, without pods.
func (p *pass) newGroup(name v1alpha1.ReplicaType) *group {
	g := &group{name: name, spec: p.spec.ReplicaSpecs[name], recorded: p.last.ReplicaStatuses[name]}
	g.replicas = make([]replica, p.world.Replicas(name))
	for i := range g.replicas {
		g.replicas[i].group, g.replicas[i].index = g, i
	}
	for index, n := range g.recorded.ReplicaRestarts {
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(g.replicas) {
			g.replicas[i].recorded, g.replicas[i].restarts = n, n
		}
	}
	return g
}

// owns reports whether a pod's labels say that it belongs to the job.
func (p *pass) owns(pod *corev1.Pod) bool {
	return pod.Labels[LabelOperator] == p.operator && pod.Labels[LabelJob] == p.name
}

// observe sets the replica's pod, and the state that follows from it.
func (r *replica) observe(pod *corev1.Pod) {
	r.pod = pod
	r.restarts = max(r.recorded, r.restartsOfPod())
	switch {
	case pod.Status.Phase == corev1.PodSucceeded && !endsByDeletion(pod):
		r.state = succeeded
	case pod.DeletionTimestamp != nil || isCollected(pod):
		// Someone deletes a pod to have it replaced. Its containers may fail because of that. Whether this is observed before the
		// pod is gone is a matter of chance, so nothing may depend on it.
		r.state = terminating
	case pod.Status.Phase == corev1.PodFailed:
		r.state = failed
	case pod.Status.Phase == corev1.PodPending || pod.Status.Phase == "":
		r.state = pending
	default:
		r.state = running
	}
}

// endsByDeletion reports whether a pod ended after its deletion began. Many programs exit with 0 when they are told to stop, and the
// kubelet then writes the phase Succeeded before the pod goes; but the pod's work isn't done.
func endsByDeletion(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	ended := outcome.PodEnded(pod)
	began := pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	return ended != nil && !ended.Time.Before(began)
}

// isCollected reports whether the pod garbage collector deletes the pod next, because its node is gone. It marks the pod as failed first,
// and never deletes it if the node comes back between these two writes.
func isCollected(pod *corev1.Pod) bool {
	disruption := outcome.Disruption(pod)
	return pod.Status.Phase == corev1.PodFailed && disruption != nil && disruption.Reason == "DeletionByPodGC"
}

// restartsOfPod returns the number of restarts of the replica before its pod failed.
func (r *replica) restartsOfPod() int32 {
	n := origin.Number(r.pod.Labels, LabelRestarts)
	if n > max(maxRestarts, r.recorded) {
		n = maxRestarts
	}
	return n + outcome.PodRestarts(r.pod)
}

// maxRestarts bounds the restarts that a label can claim, unless more are recorded: their sum over all replicas must never overflow.
const maxRestarts = 1 << 14

// isReady reports whether the replica is ready, or has succeeded.
func (r *replica) isReady() bool {
	return r.state == succeeded || r.state == running && outcome.PodReady(r.pod)
}

// String names the replica, such as "Worker 3".
func (r *replica) String() string { return string(r.group.name) + " " + strconv.Itoa(r.index) }

// replicas returns all replicas, in the order of ranks.
func (o *observed) replicas() iter.Seq[*replica] {
	return func(yield func(*replica) bool) {
		for _, g := range o.groups {
			for i := range g.replicas {
				if !yield(&g.replicas[i]) {
					return
				}
			}
		}
	}
}

// pods returns all pods of the job.
func (o *observed) pods() []*corev1.Pod {
	pods := slices.Concat(o.surplus, o.old)
	for r := range o.replicas() {
		if r.pod != nil {
			pods = append(pods, r.pod)
		}
	}
	return pods
}
