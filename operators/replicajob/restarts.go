package replicajob

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// restarting returns the failures whose replicas are recreated.
func restarting(failures []*failure) []*failure {
	var all []*failure
	for _, f := range failures {
		if f.action == v1alpha1.FailureRestartReplica || f.action == v1alpha1.FailureIgnore {
			all = append(all, f)
		}
	}
	return all
}

// isRecorded reports whether the status has the restart that this failure causes. Invariant: only then the pod is deleted. So no
// count is lost, and none is made twice, because the number follows from what the pod itself says.
func (f *failure) isRecorded() bool { return f.recorded > f.restartsOfPod() }

// countRestart counts the restart that a failure causes, and reports whether it is new. The first pass that observes a failure
// records the count, a later one deletes the pod: until then the pod's label and the kubelet's count say the same, and from then
// on the status does.
func (f *failure) countRestart() bool {
	if f.isRecorded() {
		return false
	}
	f.restarts = f.restartsOfPod() + 1
	if f.action == v1alpha1.FailureIgnore {
		f.uncounted = 1
	}
	return true
}

// toRecreate returns the failed pods whose restarts are recorded and whose delay has passed, and the time until the next delay has.
func (p *pass) toRecreate(failures []*failure) (pods []*corev1.Pod, next time.Duration) {
	for _, f := range failures {
		if !f.isRecorded() {
			continue
		}
		if left := f.left(f.restartsOfPod(), p.now.Time); left > 0 {
			next = lifecycle.Soonest(next, left)
		} else {
			pods = append(pods, f.pod)
		}
	}
	return pods, next
}

// limitRestarts fails the job if it has had, or needs, more restarts of replicas than runPolicy.backoffLimit.
func (p *pass) limitRestarts(o *observed, failures []*failure) decision {
	limit := p.spec.RunPolicy.BackoffLimit
	restarts, needed := int32(0), []*failure(nil)
	for _, g := range o.groups {
		restarts += g.restarts()
	}
	for _, f := range failures {
		if f.action == v1alpha1.FailureRestartReplica && !f.isRecorded() {
			needed = append(needed, f)
		}
	}
	if limit == nil || restarts+int32(len(needed)) <= *limit {
		return decision{action: actionRun}
	}
	times := "once"
	if restarts != 1 {
		times = fmt.Sprintf("%d times", restarts)
	}
	d := decision{action: actionFail, records: true, reason: v1alpha1.ReasonBackoffLimitExceeded}
	d.message = fmt.Sprintf("replicas were restarted %s; runPolicy.backoffLimit is %d", times, *limit)
	if len(needed) > 0 {
		d.cause, d.at = needed[0], needed[0].how.Ended
		d.message = fmt.Sprintf("%s; %s", d.cause, d.message)
	}
	return d
}

// restarts returns the number of restarts of a type's replicas that count: the recorded and the new ones.
func (g *group) restarts() int32 {
	n := g.recorded.Restarts
	for i := range g.replicas {
		r := &g.replicas[i]
		n += r.restarts - r.recorded - r.uncounted
	}
	return n
}

// restartsByIndex returns the restarts of each replica that had some, also of those by which the job was scaled down: their pods
// may still be there when it is scaled up again, and their restarts must not count twice.
func (g *group) restartsByIndex() map[string]int32 {
	var all map[string]int32
	set := func(index string, n int32) {
		if all == nil {
			all = map[string]int32{}
		}
		all[index] = n
	}
	for index, n := range g.recorded.ReplicaRestarts {
		if i, err := strconv.Atoi(index); err == nil && i >= len(g.replicas) {
			set(index, n)
		}
	}
	for i := range g.replicas {
		if n := g.replicas[i].restarts; n > 0 {
			set(strconv.Itoa(i), n)
		}
	}
	return all
}

const maxRestartDelay = 60 * time.Second

// restartDelay returns how long after its end something is restarted that was restarted so often before: 0, 1, 2, 4 ... 60 s.
func restartDelay(restarts int32) time.Duration {
	if restarts <= 0 {
		return 0
	}
	if restarts > 6 { // 2^6 s is past the maximum
		return maxRestartDelay
	}
	return min(time.Second<<(restarts-1), maxRestartDelay)
}
