package replicajob

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestWhatIsRefused(t *testing.T) {
	named := func(name string) option { return func(j *v1alpha1.ReplicaJob) { j.Name = name } }
	one := replicas("Worker", 1)
	tests := map[string]struct {
		options []option
		want    string
	}{
		"no types":                {nil, "spec.replicaSpecs: Required value: at least one type"},
		"a name with a dot":       {[]option{one, named("a.b")}, "metadata.name: Invalid value: \"a.b\": it is the name of a Service"},
		"a long name":             {[]option{one, named(strings.Repeat("a", 55))}, "a pod's name is a host name, and must have at most 63 characters"},
		"a type that is no name":  {[]option{replicas("my type", 1)}, "spec.replicaSpecs[my type]: Invalid value"},
		"types alike":             {[]option{one, replicas("worker", 1)}, "spec.replicaSpecs[worker]: Invalid value: \"worker\": it differs from Worker in case only"},
		"negative replicas":       {[]option{replicas("Worker", -1)}, "spec.replicaSpecs[Worker].replicas: Invalid value: -1: it must be 0 or more"},
		"an unknown dependency":   {[]option{replicas("Worker", 1, after("PS", "Ready"))}, "spec.replicaSpecs[Worker].dependsOn[0].type: Invalid value: \"PS\""},
		"itself":                  {[]option{replicas("Worker", 1, after("Worker", "Ready"))}, "it must be another type of the job"},
		"success of unknown ones": {[]option{one, success("All", "PS")}, "spec.successPolicy.replicaTypes[0]: Not found: \"PS\""},
		"success of no one":       {[]option{one, success("Any")}, "spec.successPolicy.replicaTypes: Required value"},
		"workers without Worker":  {[]option{replicas("PS", 1), success("AllWorkers")}, "spec.successPolicy.rule: Invalid value: \"AllWorkers\": the job has no type Worker"},
		"types without a rule":    {[]option{one, success("AllWorkers", "Worker")}, "spec.successPolicy.replicaTypes: Forbidden"},
		"a rule of unknown ones":  {[]option{one, rules(rule{}, rule{ReplicaTypes: []v1alpha1.ReplicaType{"X"}})}, "spec.failurePolicy.rules[1].replicaTypes[0]: Not found: \"X\""},
		"a bad pattern":           {[]option{one, rules(rule{OnMessage: "("})}, "spec.failurePolicy.rules[0].onMessage: Invalid value: \"(\": error parsing regexp"},
		"no containers":           {[]option{replicas("Worker", 1, func(s *v1alpha1.ReplicaSpec) { s.Template.Spec.Containers = nil })}, "spec.replicaSpecs[Worker].template.spec.containers: Required value"},
		"a bad label":             {[]option{replicas("Worker", 1, func(s *v1alpha1.ReplicaSpec) { s.Template.Labels = map[string]string{"a b": ""} })}, "spec.replicaSpecs[Worker].template.metadata.labels: Invalid value: \"a b\""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, makeJob(tt.options...))
			c.settle()
			assert.Empty(t, c.pods)
			assert.Nil(t, c.job.Status.StartTime)
			assert.Equal(t, "InvalidSpec", c.is("Stalled"))
			assert.Equal(t, "InvalidSpec", c.condition("Ready").Reason)
			assert.Contains(t, c.condition("Ready").Message, tt.want)
			assert.Equal(t, "InvalidSpec", c.is("Failed"), "kubectl wait --for=condition=Failed")
			assert.Equal(t, v1alpha1.ReplicaJobFailed, c.job.Status.State)
			assert.Equal(t, []string{"InvalidSpec"}, c.reasons(), "told once")
			assert.Equal(t, 1, c.writes)
			assert.Zero(t, c.plan.RequeueAfter)
		})
	}
}

// A scale-down below minAvailable, which no one can carry out, must not keep the job from coming to its end.
func TestAJobThatBecomesInvalidStillEnds(t *testing.T) {
	begin := func(options ...option) *cluster {
		c := newCluster(t, makeJob(append([]option{
			replicas("Worker", 3), gang(v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget", MinAvailable: ptr.To[int32](3)}),
			run(func(p *v1alpha1.RunPolicy) { p.ActiveDeadlineSeconds = ptr.To[int64](60) }),
		}, options...)...))
		c.kind.Schedulers = allSchedulers
		c.settle()
		c.run()
		c.edit(func(j *v1alpha1.ReplicaJob) { replicas("Worker", 2)(j) })
		c.settle()
		assert.Len(t, c.pods, 3, "nothing is scaled")
		assert.Equal(t, "InvalidSpec", c.is("Stalled"))
		assert.Contains(t, c.condition("Ready").Message, "minAvailable: Invalid value: 3: it must be 1 to 2")
		return c
	}
	succeeds := begin()
	succeeds.ends(0, "demo-worker-0")
	succeeds.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, succeeds.job.Status.State)
	assert.Empty(t, succeeds.is("Stalled"))
	assert.NotContains(t, succeeds.names(), "demo-worker-1", "cleaned up")

	fails := begin()
	fails.ends(1, "demo-worker-1")
	fails.settle()
	assert.Equal(t, "ReplicaFailed", fails.is("Failed"))

	late := begin()
	assert.Positive(t, late.plan.RequeueAfter)
	late.at(61)
	assert.Equal(t, "DeadlineExceeded", late.is("Failed"))
	assert.Empty(t, late.pods)

	suspended := begin()
	suspended.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = true })
	suspended.settle()
	assert.Empty(t, suspended.pods)
	assert.Equal(t, "Suspended", suspended.is("Suspended"))
	assert.Equal(t, "InvalidSpec", suspended.is("Stalled"))
	writes := suspended.writes
	suspended.at(30)
	assert.Equal(t, writes, suspended.writes, "told once")
	suspended.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	suspended.settle()
	assert.Empty(t, suspended.pods, "it isn't resumed as it is")
	suspended.edit(func(j *v1alpha1.ReplicaJob) { replicas("Worker", 3)(j) })
	suspended.settle()
	assert.Len(t, suspended.pods, 3, "mended")
	assert.Empty(t, suspended.is("Stalled"))
}

// A job that was never valid has failed, until its spec is mended.
func TestAJobThatWasNeverValidIsMended(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1), success("Any", "PS")))
	c.settle()
	since := c.condition("Failed").LastTransitionTime
	c.edit(func(j *v1alpha1.ReplicaJob) { success("Any", "Nobody")(j) })
	c.at(10)
	assert.Equal(t, "InvalidSpec", c.is("Failed"))
	assert.Equal(t, since, c.condition("Failed").LastTransitionTime)
	assert.Nil(t, c.job.Status.CompletionTime)
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.SuccessPolicy = nil })
	c.settle()
	c.run()
	assert.Empty(t, c.is("Failed"))
	assert.Empty(t, c.is("Stalled"))
	assert.Equal(t, v1alpha1.ReplicaJobRunning, c.job.Status.State)
}

// What is called otherwise now hasn't gone, and what is left doesn't decide in its place.
func TestAnInvalidSpecOfOtherTypesDecidesNothing(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Chief", 1), replicas("Worker", 1)))
	c.settle()
	c.run()
	c.edit(func(j *v1alpha1.ReplicaJob) {
		j.Spec.ReplicaSpecs["my chief"] = j.Spec.ReplicaSpecs["Chief"]
		delete(j.Spec.ReplicaSpecs, "Chief")
	})
	c.ends(0, "demo-worker-0")
	c.settle()
	assert.Equal(t, "InvalidSpec", c.is("Stalled"))
	assert.Empty(t, c.is("Succeeded"))
	assert.Len(t, c.pods, 2)
	c.edit(func(j *v1alpha1.ReplicaJob) {
		j.Spec.ReplicaSpecs["Chief"] = j.Spec.ReplicaSpecs["my chief"]
		delete(j.Spec.ReplicaSpecs, "my chief")
	})
	c.ends(0, "demo-chief-0")
	c.settle()
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
}

func TestASpecThatBecomesInvalidAndIsMended(t *testing.T) {
	c := newCluster(t, makeJob(replicas("Worker", 1)))
	c.settle()
	c.run()
	c.edit(func(j *v1alpha1.ReplicaJob) { success("Any", "PS")(j) })
	c.settle()
	assert.Len(t, c.pods, 1, "what runs is left alone")
	assert.Equal(t, "InvalidSpec", c.is("Stalled"))
	c.ends(0, "demo-worker-0")
	c.settle()
	assert.Empty(t, c.is("Succeeded"))
	c.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.SuccessPolicy = nil })
	c.settle()
	assert.Empty(t, c.is("Stalled"))
	assert.Equal(t, v1alpha1.ReplicaJobSucceeded, c.job.Status.State)
}
