package diagnose

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// lease is that of a manager of some operators, renewed some time ago.
func lease(name string, renewed time.Duration, change func(*leader.Manager)) leader.Manager {
	m := leader.Manager{
		Namespace: "ops", Lease: name, Holder: "pod-1", Renewed: now.Add(-renewed), Duration: 15 * time.Second,
		Scope: leader.Scope{Operators: []string{"daemonjob", "fluxjob", "jobflow", "minicluster", "replicajob"}},
	}
	if change != nil {
		change(&m)
	}
	return m
}

// doneFor lets a Job have ended some time ago.
func doneFor(d time.Duration, change func(*batchv1.Job)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		complete(j)
		j.Status.Conditions[0].LastTransitionTime = ago(d)
		if change != nil {
			change(j)
		}
	}
}

// TestNoManager: a manager that is gone is told of while something is under way, by its lease or by what isn't on record.
func TestNoManager(t *testing.T) {
	underWay := func(change func(*v1alpha1.JobFlow)) *Object {
		return makeFlow(change, makeJob("f-a", labelled("a", nil), nil, makePod("p", nil)))
	}
	wroteStatus := func(d time.Duration) func(*v1alpha1.JobFlow) {
		return func(f *v1alpha1.JobFlow) {
			at := ago(d)
			f.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "armature", Subresource: "status", Time: &at}}
		}
	}
	oneNode := func(state v1alpha1.FlowState) func(*v1alpha1.JobFlow) {
		return func(f *v1alpha1.JobFlow) {
			f.Spec.Flows = []v1alpha1.Flow{{Name: "a"}}
			f.Status.Flows = []v1alpha1.FlowStatus{{Name: "a", State: state}}
		}
	}
	each := func(f *v1alpha1.JobFlow) {
		oneNode(v1alpha1.FlowRunning)(f)
		f.Spec.Flows[0].ForEach = &v1alpha1.ForEach{}
	}
	shard := func(value string) func(*leader.Manager) {
		return func(m *leader.Manager) { m.Scope.Selector = v1alpha1.LabelShard + "=" + value }
	}
	daemon := func(active, succeeded int32, owned ...*Object) *Object {
		return made(&v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Name: "dj", Generation: 1}, Status: v1alpha1.DaemonJobStatus{
			State: v1alpha1.StateRunning, ObservedGeneration: 1, Desired: 2, Active: active, Succeeded: succeeded,
		}}, nil, owned...)
	}
	cluster := func(change func(*v1alpha1.MiniCluster), owned ...*Object) *Object {
		c := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: "mc", Generation: 1}}
		c.Status.State, c.Status.ObservedGeneration = v1alpha1.MiniClusterStateRunning, 1
		if change != nil {
			change(c)
		}
		return made(c, nil, owned...)
	}
	replicas := func(succeeded int32, owned ...*Object) *Object {
		return made(&v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: "rj", Generation: 1}, Status: v1alpha1.ReplicaJobStatus{
			State: v1alpha1.ReplicaJobRunning, ObservedGeneration: 1,
			ReplicaStatuses: map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Worker": {Active: 1, Succeeded: succeeded}},
		}}, nil, owned...)
	}
	ended := makePod("old", func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodSucceeded} })
	flux := made(&v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: "fj", Generation: 1}, Status: v1alpha1.FluxJobStatus{
		State: v1alpha1.FluxJobRunning, ObservedGeneration: 1,
	}}, nil, cluster(func(c *v1alpha1.MiniCluster) {
		at := ago(time.Minute)
		c.Status.State, c.Status.CompletionTime = v1alpha1.MiniClusterStateSucceeded, &at
		c.Status.Conditions = []metav1.Condition{{Type: "Succeeded", Status: "True"}}
	}))
	tests := map[string]struct {
		facts  Facts
		reason string
		says   string
	}{
		"the leader died":        {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", 3*time.Minute, nil)}}, "NoManager", "no manager runs: the lease ops/m was last renewed 3m0s ago by pod-1; running pods continue"},
		"the leader left":        {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", time.Minute, func(m *leader.Manager) { m.Holder, m.Duration = "", time.Second })}}, "NoManager", "the lease ops/m was released 1m0s ago"},
		"the leader is late":     {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", 19*time.Second, nil)}}, "", ""},
		"a leader":               {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", time.Second, nil)}}, "", ""},
		"no lease":               {Facts{Root: underWay(nil)}, "", ""},
		"another has no lease":   {Facts{Root: underWay(wroteStatus(time.Second)), Managers: []leader.Manager{lease("m", time.Hour, nil)}}, "", ""},
		"it wrote when it lived": {Facts{Root: underWay(wroteStatus(time.Hour)), Managers: []leader.Manager{lease("m", time.Hour, nil)}}, "NoManager", "1h0m0s ago"},
		"the shard's died": {Facts{Root: underWay(func(f *v1alpha1.JobFlow) { f.Labels = map[string]string{v1alpha1.LabelShard: "a"} }),
			Managers: []leader.Manager{lease("a", time.Hour, shard("a")), lease("b", 0, shard("b"))}}, "NoManager", "the lease ops/a was last renewed"},
		"another shard's died": {Facts{Root: underWay(func(f *v1alpha1.JobFlow) { f.Labels = map[string]string{v1alpha1.LabelShard: "b"} }),
			Managers: []leader.Manager{lease("a", time.Hour, shard("a")), lease("b", 0, shard("b"))}}, "", ""},
		"another namespace's died": {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", time.Hour, func(m *leader.Manager) { m.Scope.Namespaces = []string{"others"} })}}, "", ""},
		"another operator's died":  {Facts{Root: underWay(nil), Managers: []leader.Manager{lease("m", time.Hour, func(m *leader.Manager) { m.Scope.Operators = []string{"daemonjob"} })}}, "", ""},
		"never seen, the leader died": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Status = v1alpha1.JobFlowStatus{} }),
			Managers: []leader.Manager{lease("m", time.Hour, nil)}}, "NoManager", "its status is empty; the lease ops/m was last renewed 1h0m0s ago"},
		"never seen, others lead": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Status = v1alpha1.JobFlowStatus{} }),
			Managers: []leader.Manager{lease("m", 0, func(m *leader.Manager) { m.Scope.Namespaces = []string{"a", "b"} })}}, "NoManager",
			"none of the existing managers works on it: ops/m has --operators=daemonjob,fluxjob,jobflow,minicluster,replicajob --watch-namespaces=a,b"},
		"it has ended": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.State, f.Status.Conditions = v1alpha1.StateSucceed, []metav1.Condition{{Type: "Succeeded", Status: "True"}}
		}), Managers: []leader.Manager{lease("m", time.Hour, nil)}}, "", ""},
		"what is wrong below comes first": {Facts{Root: makeFlow(nil, makeJob("f-a", nil, nil, makePod("p", exited(3, "")))), Managers: []leader.Manager{lease("m", time.Hour, nil)}},
			"ExitCode", "exited with code 3"},
		"in line": {Facts{Root: made(&v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: "fj", Generation: 1}, Status: v1alpha1.FluxJobStatus{ObservedGeneration: 1, State: v1alpha1.FluxJobWaiting,
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: v1alpha1.ReasonQueued}}}}, nil),
			Managers: []leader.Manager{lease("m", time.Hour, nil)}}, "NoManager", "no manager runs"},

		"a node's end isn't on record": {Facts{Root: makeFlow(oneNode(v1alpha1.FlowRunning), makeJob("f-a", labelled("a", doneFor(time.Minute, nil)), nil))}, "NoManager",
			"no manager works on it: Job/f-a ended 1m0s ago, and its status has no record of it"},
		"... nor its start":         {Facts{Root: makeFlow(oneNode(v1alpha1.FlowPending), makeJob("f-a", labelled("a", doneFor(time.Minute, nil)), nil))}, "NoManager", "Job/f-a ended 1m0s ago"},
		"a node ended a moment ago": {Facts{Root: makeFlow(oneNode(v1alpha1.FlowRunning), makeJob("f-a", labelled("a", doneFor(time.Second, nil)), nil))}, "", ""},
		"a node's end is on record": {Facts{Root: makeFlow(oneNode(v1alpha1.FlowSucceed), makeJob("f-a", labelled("a", doneFor(time.Minute, nil)), nil))}, "", ""},
		"a node that is retried": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			oneNode(v1alpha1.FlowRunning)(f)
			since := ago(30 * time.Second)
			f.Spec.Retry, f.Status.Retry, f.Status.ActiveSince = 1, 1, &since
		}, makeJob("f-a", labelled("a", doneFor(time.Minute, nil)), nil))}, "", ""},
		"items go on":                             {Facts{Root: makeFlow(each, makeJob("f-a-0", labelled("a", doneFor(time.Minute, nil)), nil), makeJob("f-a-1", labelled("a", nil), nil, makePod("p", nil)))}, "", ""},
		"items don't go on":                       {Facts{Root: makeFlow(each, makeJob("f-a-0", labelled("a", doneFor(time.Minute, nil)), nil))}, "NoManager", "Job/f-a-0 ended"},
		"a node of the cluster":                   {Facts{Root: daemon(2, 0, makeJob("dj-1", doneFor(time.Minute, nil), nil), makeJob("dj-2", nil, nil, makePod("p", nil)))}, "NoManager", "Job/dj-1 ended"},
		"a node of the cluster that is on record": {Facts{Root: daemon(1, 1, makeJob("dj-1", doneFor(time.Minute, nil), nil), makeJob("dj-2", nil, nil, makePod("p", nil)))}, "", ""},
		"a cluster's Job":                         {Facts{Root: cluster(nil, makeJob("mc", doneFor(time.Minute, nil), nil))}, "NoManager", "Job/mc ended"},
		"... that restarts":                       {Facts{Root: cluster(func(c *v1alpha1.MiniCluster) { c.Status.State = v1alpha1.MiniClusterStateRestarting }, makeJob("mc", doneFor(time.Minute, nil), nil))}, "", ""},
		"a job's cluster":                         {Facts{Root: flux}, "NoManager", "MiniCluster/mc ended 1m0s ago"},
		"a replica":                               {Facts{Root: replicas(0, ended, makePod("p", nil))}, "NoManager", "Pod/old ended 1m0s ago"},
		"a replica that is on record":             {Facts{Root: replicas(1, ended, makePod("p", nil))}, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.facts.Now = now
			found := Diagnose(tt.facts)
			assert.Equal(t, tt.reason, found.Reason, "%+v", found)
			assert.Contains(t, found.Message, tt.says)
			assert.Equal(t, found.Wrong(), found.Next != "")
			if alone := Unattended(tt.facts); tt.reason == "NoManager" {
				assert.Equal(t, found.Message, alone.Message)
			}
		})
	}
}
