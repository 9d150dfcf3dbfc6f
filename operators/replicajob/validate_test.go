package replicajob

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// The API server refuses most of these, but not in kinds of one's own.
func TestInvalidSpecs(t *testing.T) {
	after := func(types ...v1alpha1.ReplicaType) func(*v1alpha1.ReplicaSpec) {
		return func(s *v1alpha1.ReplicaSpec) {
			for _, t := range types {
				s.DependsOn = append(s.DependsOn, v1alpha1.ReplicaDependency{Type: t, Status: "Ready"})
			}
		}
	}
	named := func(name string) option { return func(j *v1alpha1.ReplicaJob) { j.Name = name } }
	noContainers := func(s *v1alpha1.ReplicaSpec) { s.Template.Spec.Containers = nil }
	badLabel := func(s *v1alpha1.ReplicaSpec) { s.Template.Labels = map[string]string{"a b": ""} }
	one, nothing := replicas("Worker", 1), corev1.ResourceList{}
	kind, view := ReplicaJobs, buildertest.NewView(epoch)
	kind.Schedulers = []v1alpha1.GangProvider{"Kubernetes", "Volcano", "SchedulerPlugins", "PodDisruptionBudget"}
	for want, options := range map[string][]option{
		"spec.replicaSpecs: Required value: at least one type":                                    nil,
		`metadata.name: Invalid value: "a.b": it is the name of a Service`:                        {one, named("a.b")},
		"a pod's name is a host name, and must have at most 63 characters":                        {one, named(strings.Repeat("a", 55))},
		"spec.replicaSpecs[my type]: Invalid value":                                               {replicas("my type", 1)},
		`spec.replicaSpecs[worker]: Invalid value: "worker": it differs from Worker in case only`: {one, replicas("worker", 1)},
		"spec.replicaSpecs[Worker].replicas: Invalid value: -1: it must be 0 or more":             {replicas("Worker", -1)},
		`spec.replicaSpecs[Worker].dependsOn[0].type: Invalid value: "PS"`:                        {replicas("Worker", 1, after("PS"))},
		"it must be another type of the job":                                                      {replicas("Worker", 1, after("Worker"))},
		`spec.replicaSpecs[A].dependsOn: Invalid value: "A -> B -> A": the dependencies form a cycle`: {
			replicas("A", 1, after("B")), replicas("B", 1, after("A"))},
		`spec.replicaSpecs[B].dependsOn: Invalid value: "B -> C -> D -> B": the dependencies form a cycle`: {
			replicas("A", 1, after("B")), replicas("B", 1, after("C")), replicas("C", 1, after("D")), replicas("D", 1, after("B"))},
		`spec.successPolicy.replicaTypes[0]: Not found: "PS"`:                              {one, success("All", "PS")},
		"spec.successPolicy.replicaTypes: Required value":                                  {one, success("Any")},
		`spec.successPolicy.rule: Invalid value: "AllWorkers": the job has no type Worker`: {replicas("PS", 1), success("AllWorkers")},
		"spec.successPolicy.replicaTypes: Forbidden":                                       {one, success("AllWorkers", "Worker")},
		`spec.failurePolicy.rules[1].replicaTypes[0]: Not found: "X"`: {
			one, rules(rule{}, rule{ReplicaTypes: []v1alpha1.ReplicaType{"X"}})},
		`spec.failurePolicy.rules[0].onMessage: Invalid value: "(": error parsing regexp`: {one, rules(rule{OnMessage: "("})},
		"spec.replicaSpecs[Worker].template.spec.containers: Required value":              {replicas("Worker", 1, noContainers)},
		"spec.failurePolicy.rules[0].onMessage: Forbidden: the expressions up to this one have 2997 instructions together, more than 2000": {
			one, rules(rule{OnMessage: "(?:abc){999}"}, rule{OnMessage: "("})},
		"spec.failurePolicy.rules[2].onMessage: Forbidden: the expressions up to this one have 2001 instructions together, more than 2000": {
			one, rules(rule{OnMessage: "a{1000}"}, rule{OnMessage: "a{1000}"}, rule{OnMessage: "a"}, rule{OnMessage: "a"})},
		`spec.replicaSpecs[Worker].template.metadata.labels: Invalid value: "a b"`: {replicas("Worker", 1, badLabel)},
		"queue: Forbidden: the provider Kubernetes doesn't know it":                {one, gang(v1alpha1.SchedulingPolicy{Queue: "q"})},
		"priorityClass: Forbidden":          {one, gang(v1alpha1.SchedulingPolicy{Provider: "SchedulerPlugins", PriorityClass: "p"})},
		"minResources: Forbidden":           {one, gang(v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget", MinResources: nothing})},
		"scheduleTimeoutSeconds: Forbidden": {one, gang(v1alpha1.SchedulingPolicy{Provider: "Volcano", ScheduleTimeoutSeconds: new(int32(1))})},
		"minAvailable: Invalid value: 5: it must be 1 to 4, the number of": {
			one, replicas("PS", 3), gang(v1alpha1.SchedulingPolicy{MinAvailable: new(int32(5))})},
	} {
		t.Run(want, func(t *testing.T) {
			plan := kind.Plan(makeJob(options...), view)
			assert.Empty(t, plan.Children)
			assert.Zero(t, plan.RequeueAfter)
			assert.Nil(t, plan.Status.Status.StartTime)
			assert.Equal(t, v1alpha1.ReplicaJobFailed, plan.Status.Status.State)
			for kind, status := range map[string]metav1.ConditionStatus{"Stalled": "True", "Ready": "False", "Failed": "True"} {
				found := condition(plan.Status, kind)
				assert.Equal(t, []any{status, "InvalidSpec"}, []any{found.Status, found.Reason}, kind)
				assert.Contains(t, found.Message, want)
			}
			require.Len(t, plan.Events, 1)
			assert.Equal(t, "InvalidSpec", plan.Events[0].Reason)

			again := kind.Plan(plan.Status, view)
			assert.Nil(t, again.Status)
			assert.Empty(t, again.Events)
		})
	}
}

// An expression that an earlier version accepted is refused, but a job that has started keeps its pods, and can still succeed.
func TestARunningJobWithTooLargeExpressions(t *testing.T) {
	huge := rule{Action: v1alpha1.FailureFail, OnMessage: "(?s)(?:" + strings.Repeat(".?", 500) + "){999}z"}
	job := makeJob(started, replicas("Worker", 2), rules(slices.Repeat([]rule{huge}, 20)...))
	job.Status.ReplicaStatuses = map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Worker": {Active: 2}}
	pods := podsOf(job, ready, func(p *corev1.Pod) {
		end(p, 1, metav1.NewTime(epoch))
		p.Status.ContainerStatuses[0].State.Terminated.Message = strings.Repeat("a", 4096)
	})
	plan := ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...)) // takes minutes and a gigabyte if it compiles them
	assert.Empty(t, plan.Delete)
	assert.Empty(t, plan.Prune)
	assert.NotEqual(t, v1alpha1.ReplicaJobFailed, plan.Status.Status.State)
	stalled := condition(plan.Status, "Stalled")
	assert.Equal(t, "InvalidSpec", stalled.Reason)
	assert.Contains(t, stalled.Message, "spec.failurePolicy.rules[0].onMessage: Forbidden: the expressions up to this one have 999001 instructions")
	assert.Nil(t, plan.Status.Status.CompletionTime)

	pods = podsOf(job, func(p *corev1.Pod) { end(p, 0, metav1.NewTime(epoch)) })
	plan = ReplicaJobs.Plan(plan.Status, buildertest.NewView(epoch, pods...))
	require.NotNil(t, plan.Status)
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, plan.Status.Status.State)
}

// The rules read what a kubelet keeps of the messages of a pod, and no more.
func TestTheRulesReadABoundedPartOfTheMessages(t *testing.T) {
	for length, want := range map[int]v1alpha1.FailureAction{
		16<<10 - 3: v1alpha1.FailureIgnore, 16<<10 - 2: v1alpha1.FailureFail, 16 << 10: v1alpha1.FailureFail,
	} {
		job := makeJob(started, replicas("Worker", 1), rules(rule{Action: v1alpha1.FailureIgnore, OnMessage: "end"}))
		pods := podsOf(job, func(p *corev1.Pod) {
			end(p, 1, metav1.NewTime(epoch))
			p.Status.Message = strings.Repeat("a", length-10)
			p.Status.ContainerStatuses[0].State.Terminated.Message = "0123456789end"
		})
		p := ReplicaJobs.passOf(job, buildertest.NewView(epoch, pods...))
		failures := p.failures(p.observe(buildertest.NewView(epoch, pods...)))
		require.Len(t, failures, 1)
		assert.Equal(t, want, failures[0].action, length)
	}
}

// The webhook and armature lint have no cluster: they refuse only what no cluster's default provider knows.
func TestWithoutAClusterTheDefaultProviderMayBeAnyCluster(t *testing.T) {
	for _, c := range []struct {
		schedulers []v1alpha1.GangProvider
		policy     v1alpha1.SchedulingPolicy
		invalid    bool
	}{
		{nil, v1alpha1.SchedulingPolicy{PriorityClass: "high"}, false},
		{[]v1alpha1.GangProvider{"Kubernetes", "PodDisruptionBudget"}, v1alpha1.SchedulingPolicy{PriorityClass: "high"}, false},
		{[]v1alpha1.GangProvider{"PodDisruptionBudget"}, v1alpha1.SchedulingPolicy{PriorityClass: "high"}, true},
		{nil, v1alpha1.SchedulingPolicy{Queue: "q"}, true},
		{nil, v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget", PriorityClass: "high"}, true},
	} {
		kind := ReplicaJobs
		kind.Schedulers = c.schedulers
		plan := kind.Plan(makeJob(replicas("Worker", 1), gang(c.policy)), buildertest.NewView(epoch))
		assert.Equal(t, c.invalid, condition(plan.Status, "Stalled").Reason == "InvalidSpec", "%+v", c)
	}
}
