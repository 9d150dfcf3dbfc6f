package diagnose

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/operators/jobflow"
)

// recordGrace is the time that a manager has to record the end of a child.
const recordGrace = 10 * time.Second

// unrecorded: a child has ended, and the status has no record of it. So no manager works on the object, whatever the leases show:
// a manager can run without a lease.
func unrecorded(s subject) *Finding {
	if !s.isActive() || isBehind(s.Object) {
		return nil
	}
	ended := s.unrecordedEnd()
	if ended == nil {
		return nil
	}
	at, _ := endOf(ended)
	message := "no manager works on it: " + ended.Ref().String() + " ended " + s.Now.Sub(at).Truncate(time.Second).String() +
		" ago, and its status has no record of it"
	if gone := s.goneManagers(); len(gone) > 0 {
		message += "; " + leader.SinceWhen(gone, s.Now)
	}
	return blocked("NoManager", "%s", message).do("%s", startManager)
}

// unrecordedEnd returns a child whose end should be in the status and isn't, nil if there is none.
func (s subject) unrecordedEnd() *Object {
	switch s.GetKind() {
	case "JobFlow":
		return s.unrecordedNode()
	case "DaemonJob":
		// A node's Job is in one of the counts.
		n := s.number("status", "succeeded") + s.number("status", "failed")
		ended, active := s.children(func(o *Object) bool { return o.job != nil })
		if int64(len(ended)) > n && int64(len(active)) < s.number("status", "active") {
			return s.lastOf(ended)
		}
	case "MiniCluster":
		if s.text("status", "state") == string(v1alpha1.MiniClusterStateRestarting) {
			return nil
		}
		ended, active := s.children(func(o *Object) bool { return o.job != nil })
		if len(active) == 0 {
			return s.lastOf(ended)
		}
	case "FluxJob":
		ended, active := s.children(func(o *Object) bool { return o.is("MiniCluster") })
		if len(active) == 0 && s.text("status", "state") != string(v1alpha1.FluxJobStopping) {
			return s.lastOf(ended)
		}
	case "ReplicaJob":
		job := &v1alpha1.ReplicaJob{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(s.Object.Object, job) != nil {
			return nil
		}
		n := 0
		for _, is := range job.Status.ReplicaStatuses {
			n += int(is.Succeeded + is.Failed)
		}
		if ended, _ := s.children(func(o *Object) bool { return o.pod != nil }); len(ended) > n {
			return s.lastOf(ended)
		}
	}
	return nil
}

// unrecordedNode returns a Job of a flow whose end isn't in the status: the last Job of a node that is active by its status.
func (s subject) unrecordedNode() *Object {
	flow := &v1alpha1.JobFlow{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(s.Object.Object, flow) != nil {
		return nil
	}
	forEach := map[string]bool{}
	for _, nodes := range [][]v1alpha1.Flow{flow.Spec.Flows, flow.Spec.Finally} {
		for i := range nodes {
			forEach[nodes[i].Name] = nodes[i].ForEach != nil
		}
	}
	_, active := s.children(func(o *Object) bool { return o.job != nil })
	for _, node := range flowstate.Of(flow) {
		isOpen := node.State == v1alpha1.FlowRunning || node.State == v1alpha1.FlowPending // of a large flow not all that run are listed
		if !isOpen || forEach[node.Name] && len(active) > 0 {
			continue // items that wait for a slot have no Job
		}
		label := jobflow.PodLabels(flow, node.Name)[jobflow.LabelFlow]
		ended, active := s.children(func(o *Object) bool { return o.job != nil && o.GetLabels()[jobflow.LabelFlow] == label })
		if len(active) > 0 {
			continue
		}
		if job := s.lastOf(ended); job != nil {
			return job
		}
	}
	return nil
}

// children returns those of some children that have ended, and those that haven't. It omits those that ended before the last
// retry, because they belong to an earlier attempt.
func (s subject) children(of func(*Object) bool) (ended, active []*Object) {
	since, _ := time.Parse(time.RFC3339, s.text("status", "activeSince"))
	for _, child := range s.Owned {
		if !of(child) || child.GetDeletionTimestamp() != nil {
			continue
		}
		switch at, over := endOf(child); {
		case !over:
			active = append(active, child)
		case !at.Before(since):
			ended = append(ended, child)
		}
	}
	return ended, active
}

// lastOf returns the child that ended last, nil within recordGrace, because the manager may still record it.
func (s subject) lastOf(ended []*Object) *Object {
	if len(ended) == 0 {
		return nil
	}
	last := slices.MaxFunc(ended, func(a, b *Object) int {
		at, _ := endOf(a)
		other, _ := endOf(b)
		return at.Compare(other)
	})
	if at, _ := endOf(last); s.Now.Sub(at) < recordGrace {
		return nil
	}
	return last
}

// endOf returns when a Job, a pod or a MiniCluster ended, and whether it has.
func endOf(o *Object) (at time.Time, ended bool) {
	switch {
	case o.pod != nil:
		if o.pod.Status.Phase != corev1.PodSucceeded && o.pod.Status.Phase != corev1.PodFailed {
			return time.Time{}, false
		}
		at = o.GetCreationTimestamp().Time
		for _, c := range containers(o.pod) {
			if end := c.status.State.Terminated; end != nil && end.FinishedAt.After(at) {
				at = end.FinishedAt.Time
			}
		}
		return at, true
	case o.job != nil:
		for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
			if c := o.isTrue(string(kind)); c != nil {
				return c.LastTransitionTime.Time, true
			}
		}
		return time.Time{}, false
	default:
		at, err := time.Parse(time.RFC3339, o.text("status", "completionTime"))
		return at, err == nil
	}
}
