package replicajob

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/intervals"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// roster is who is there: the job's replicas, and pods that are none of them.
type roster struct {
	teams []*team // in the order of ranks
	// surplus are pods of the job that no replica is: their index is past the replicas, their type or name is unknown.
	surplus []*corev1.Pod
	// old are pods of a former attempt of the whole job.
	old []*corev1.Pod
	// strays are pods that we control and whose labels say that they belong to another job, or to none.
	strays []*corev1.Pod
}

// team is the replicas of one type.
type team struct {
	name     v1alpha1.ReplicaType
	spec     v1alpha1.ReplicaSpec
	recorded v1alpha1.ReplicaStatus
	slots    []slot // by index
}

// slot is one replica: what has become of it, and its pod if there is one.
type slot struct {
	state state
	pod   *corev1.Pod // of this attempt; nil if it is missing
	// recorded is the number of its restarts that the status has.
	recorded int32
	// seen is the number of its restarts that can be seen: its label says how many there were before, the kubelet how many
	// there were since. A failure is among them once it has been counted (see record).
	seen int32
	// uncounted is how many of those that are new don't count against the backoffLimit.
	uncounted int32
}

// state is where a replica is.
type state int

const (
	missing   state = iota // it has no pod
	leaving                // its name is taken by a pod that is to go, or going
	pending                // its pod has not started
	running                // its pod runs
	succeeded              // it has succeeded, also if its pod is gone
	failed                 // its pod has failed, and was not deleted
)

// gather puts each pod where it belongs. Pods are known by their names, which no one can change; labels and order don't
// matter, so two pods can't be the same replica. Time is linear in replicas and pods.
func (j *job) gather(pods []*corev1.Pod) *roster {
	r := &roster{}
	byPrefix := make(map[string]*team, len(j.world.types))
	for _, name := range j.world.types {
		t := &team{name: name, spec: j.spec.ReplicaSpecs[name], recorded: j.was.ReplicaStatuses[name]}
		t.slots = make([]slot, j.world.Replicas(name))
		for index, n := range t.recorded.ReplicaRestarts {
			if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(t.slots) {
				t.slots[i].recorded, t.slots[i].seen = n, n
			}
		}
		byPrefix[podPrefix(j.name, name)] = t
		r.teams = append(r.teams, t)
	}
	for _, pod := range pods {
		prefix, index, ok := indexOf(pod.Name)
		t := byPrefix[prefix]
		if !ok || t != nil && index >= len(t.slots) {
			t = nil
		}
		switch {
		case !j.claims(pod):
			r.strays = append(r.strays, pod)
		case t == nil:
			r.surplus = append(r.surplus, pod)
			continue
		case count(pod, LabelRestartAttempt) < j.was.Restarts:
			r.old = append(r.old, pod)
		default:
			t.slots[index].take(pod)
			continue
		}
		if t != nil {
			t.slots[index].state = leaving
		}
	}
	for _, t := range r.teams {
		intervals.Each(t.recorded.SucceededIndexes, len(t.slots), func(i int) { t.slots[i].state = succeeded })
	}
	return r
}

// claims reports whether a pod's labels say that it belongs to the job.
func (j *job) claims(pod *corev1.Pod) bool {
	return pod.Labels[LabelOperator] == j.operator && pod.Labels[LabelJob] == j.name
}

// take makes a pod the slot's own.
func (s *slot) take(pod *corev1.Pod) {
	s.pod = pod
	s.seen = max(s.recorded, count(pod, LabelRestarts)+outcome.PodRestarts(pod))
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		s.state = succeeded
	case pod.DeletionTimestamp != nil:
		// Whoever deletes a pod means to have it replaced. Its containers may fail of that; whether this is seen before the
		// pod is gone is a matter of chance, and nothing may depend on it.
		s.state = leaving
	case pod.Status.Phase == corev1.PodFailed:
		s.state = failed
	case pod.Status.Phase == corev1.PodPending || pod.Status.Phase == "":
		s.state = pending
	default:
		s.state = running
	}
}

// count returns a label's number, 0 if it has none.
func count(pod *corev1.Pod, label string) int32 {
	n, err := strconv.ParseInt(pod.Labels[label], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// before is how many restarts the replica had before its pod failed.
func (s *slot) before() int32 { return count(s.pod, LabelRestarts) + outcome.PodRestarts(s.pod) }

// isReady reports whether the replica is ready, or has succeeded.
func (s *slot) isReady() bool {
	return s.state == succeeded || s.state == running && outcome.PodReady(s.pod)
}

// restartPolicy returns what happens when a pod of the team fails.
func (t *team) restartPolicy() v1alpha1.ReplicaRestartPolicy {
	switch {
	case t.spec.RestartPolicy != "":
		return t.spec.RestartPolicy
	case t.spec.Template.Spec.RestartPolicy != "":
		return v1alpha1.ReplicaRestartPolicy(t.spec.Template.Spec.RestartPolicy)
	default:
		return v1alpha1.RestartNever
	}
}

// each calls f with each replica, in the order of ranks.
func (r *roster) each(f func(t *team, index int, s *slot)) {
	for _, t := range r.teams {
		for i := range t.slots {
			f(t, i, &t.slots[i])
		}
	}
}

// replica names a replica for people: "Worker 3".
func (t *team) replica(index int) string { return string(t.name) + " " + strconv.Itoa(index) }
