package watchcmd

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/minicluster"
)

// clusterPicture shows a MiniCluster: how many of its pods are ready, and its leader, whose end is the cluster's.
func clusterPicture(c *v1alpha1.MiniCluster, now time.Time) picture {
	s := &c.Status
	p := picture{
		state: string(s.State), elapsed: since(s.StartTime, s.CompletionTime, now), problem: problem(s.Conditions),
		heads: [2]string{"POD"}, tally: tally{total: int(max(s.Size, s.StartSize, 1))},
	}
	leader := row{
		name: "leader", state: v1alpha1.FlowPending, attempt: s.Restarts, counts: true,
		pods: minicluster.LabelMiniCluster + "=" + c.Name,
	}
	if s.Leader != nil {
		leader.name = s.Leader.Pod
	}
	switch s.State {
	case v1alpha1.MiniClusterStateSucceeded:
		leader.state, p.tally.done = v1alpha1.FlowSucceed, p.tally.total
	case v1alpha1.MiniClusterStateFailed:
		leader.state, p.tally.bad, leader.message = v1alpha1.FlowFailed, 1, s.LastFailure
	case v1alpha1.MiniClusterStateStarting, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterStateRestarting:
		leader.state, p.tally.runs = v1alpha1.FlowRunning, int(s.ReadyPods)
		leader.message = sum(fmt.Sprintf("%d of %d pods ready", s.ReadyPods, p.tally.total), some(s.Restarts, "restarts"))
	}
	p.rows = []row{leader}
	if s.ObservedGeneration == c.Generation {
		p.failed = s.State == v1alpha1.MiniClusterStateFailed || isInvalid(s.Conditions)
		p.over = p.failed || s.State == v1alpha1.MiniClusterStateSucceeded
	}
	return p
}

// fluxPicture shows a FluxJob with its two steps: it waits for its share of the queue, then it runs. Its clock begins with it.
func fluxPicture(job *v1alpha1.FluxJob, now time.Time) picture {
	s, zero := &job.Status, job.CreationTimestamp
	p := picture{
		state: string(s.State), elapsed: since(&zero, s.CompletionTime, now), problem: problem(s.Conditions), heads: [2]string{"STEP", "OF"},
	}
	if ready := meta.FindStatusCondition(s.Conditions, events.ConditionReady); ready != nil && ready.Reason == v1alpha1.ReasonQueued &&
		job.Labels[v1alpha1.LabelKueueQueue] == "" {
		p.problem = "" // the position says it
	}
	wait := row{name: "wait", after: s.Queue, state: v1alpha1.FlowSucceed, counts: true, attempt: s.Attempts}
	run := row{name: "run", after: s.MiniCluster, state: v1alpha1.FlowPending, counts: true, attempt: s.Attempts}
	var admitted *metav1.Time
	switch s.State {
	case v1alpha1.FluxJobStarting, v1alpha1.FluxJobReady, v1alpha1.FluxJobRunning, v1alpha1.FluxJobStopping:
		run.state, admitted = v1alpha1.FlowRunning, s.StartTime
		run.message = sum(some(s.Size, "pods"), some(s.Restarts, "restarts"))
	case v1alpha1.FluxJobSucceeded:
		run.state, admitted = v1alpha1.FlowSucceed, s.StartTime
	case v1alpha1.FluxJobFailed:
		run.state, admitted = v1alpha1.FlowFailed, s.StartTime
		if s.ExitCode != nil {
			run.message = fmt.Sprintf("exit code %d", *s.ExitCode)
		}
		if s.MiniCluster != "" {
			run.pods = minicluster.LabelMiniCluster + "=" + s.MiniCluster
		}
	case v1alpha1.FluxJobWaiting:
		wait.state = v1alpha1.FlowRunning
		if s.Position != nil {
			wait.message = fmt.Sprintf("at position %d", *s.Position)
		}
	default:
		wait.state = v1alpha1.FlowPending
	}
	if s.CompletionTime != nil && admitted == nil {
		wait.state, run.state = v1alpha1.FlowFailed, v1alpha1.FlowSkipped // it ended in the line
	}
	if wait.state != v1alpha1.FlowPending {
		wait.runs(zero.Time, &zero, admitted, end(s.CompletionTime, now))
	}
	run.runs(zero.Time, admitted, s.CompletionTime, now)
	p.rows = []row{wait, run}
	p.tally = count(p.rows)
	if s.ObservedGeneration == job.Generation {
		p.failed = s.State == v1alpha1.FluxJobFailed || isInvalid(s.Conditions)
		p.over = p.failed || s.State == v1alpha1.FluxJobSucceeded
	}
	return p
}
