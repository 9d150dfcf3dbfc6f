package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/items"
	"github.com/armature-dev/armature/operators/jobflow/internal/outputs"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

func each(name string, items ...string) v1alpha1.Flow {
	n := node(name)
	n.ForEach = &v1alpha1.ForEach{Items: items}
	return n
}

func eachOf(name, from string) v1alpha1.Flow {
	n := node(name, from)
	n.ForEach = &v1alpha1.ForEach{FromOutput: from}
	return n
}

// item makes a Job of a node an item's.
func item(node string, index int, job func(string) *batchv1.Job) *batchv1.Job {
	j := job(fmt.Sprint(node, "-", index))
	j.Labels = map[string]string{LabelFlow: node, LabelItem: fmt.Sprint(index)}
	return j
}

func TestForEachRunsOneJobAnItem(t *testing.T) {
	s := &stepper{flow: makeFlow(each("fan", "red", "$(green)", "blue"), node("join", "fan"))}
	s.flow.Spec.Flows[0].ForEach.MaxParallel = ptr.To[int32](2)
	plan := s.step()
	assert.Equal(t, []string{"demo-fan-0", "demo-fan-1"}, started(plan))
	assert.Equal(t, "$$(green)", envOf(t, plan, 1, "ITEM"))
	assert.Equal(t, "1", envOf(t, plan, 1, "ITEM_INDEX"))

	s.step(item("fan", 0, runningJob), item("fan", 1, runningJob))
	assert.Equal(t, "demo-fan", detailOf(s.flow, "fan").Job)
	assert.Equal(t, v1alpha1.FlowRunning, states(s.flow)["fan"])
	plan = s.step(item("fan", 0, completeJob), item("fan", 1, runningJob))
	assert.Equal(t, []string{"demo-fan-2"}, started(plan))
	assert.Equal(t, "1 of 3 items succeeded", detailOf(s.flow, "fan").Message)
	plan = s.step(item("fan", 1, completeJob), item("fan", 2, runningJob))
	assert.Empty(t, started(plan), "item 0 is on record")
	plan = s.step(item("fan", 2, completeJob))
	assert.Equal(t, []string{"demo-join"}, started(plan))
	assert.Equal(t, "3 of 3 items succeeded", detailOf(s.flow, "fan").Message)
	assert.Empty(t, s.flow.Status.Items)
}

func TestForEachWithFailures(t *testing.T) {
	s := &stepper{flow: makeFlow(each("fan", "a", "b", "c"), node("join", "fan"))}
	s.step()
	plan := s.step(item("fan", 0, failedJob), item("fan", 1, completeJob), item("fan", 2, runningJob))
	assert.Empty(t, plan.Events)
	assert.Equal(t, "1 of 3 items succeeded, 1 failed", detailOf(s.flow, "fan").Message)
	s.step(item("fan", 0, failedJob), item("fan", 1, completeJob), item("fan", 2, failedJob))
	assert.Equal(t, "1 of 3 items succeeded; failed: 0, 2", detailOf(s.flow, "fan").Message)
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)

	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Retry = 1 })
	plan = s.step(item("fan", 0, failedJob), item("fan", 1, completeJob), item("fan", 2, failedJob))
	assert.Equal(t, []string{"demo-fan-0-r1", "demo-fan-2-r1"}, started(plan), "item 1 has succeeded")
	assert.Equal(t, "1", plan.Children[0].Object().GetLabels()[LabelRetry])
	s.step(retried(item("fan", 0, completeJob)), retried(item("fan", 2, completeJob)))
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["fan"])
	assert.EqualValues(t, 2, detailOf(s.flow, "fan").Attempts)
}

// retried makes a Job one of the first retry.
func retried(job *batchv1.Job) *batchv1.Job {
	job.Name += "-r1"
	if job.Labels == nil {
		job.Labels = map[string]string{}
	}
	job.Labels[LabelRetry] = "1"
	return job
}

func TestForEachOverAnOutput(t *testing.T) {
	tests := map[string]struct {
		output  string
		items   []string
		message string
	}{
		"strings and others": {`["a", 7, {"b": [1, true]}, null, ""]`, []string{"a", "7", `{"b": [1, true]}`, "null", ""}, ""},
		"empty":              {`[]`, nil, "there are no items"},
		"no JSON":            {`a, b`, nil, `forEach: the output of flow "list" is no JSON list: invalid character 'a' looking for beginning of value; it begins with "a, b"`},
		"null":               {`null`, nil, `forEach: the output of flow "list" is no JSON list: it is null`},
		"cut":                {`["` + strings.Repeat("a", 4094), nil, `forEach: the output of flow "list" is lost: it has 4096 bytes or more`},
		"no list":            {`{"a": 1}`, nil, `forEach: the output of flow "list" is no JSON list: json: cannot unmarshal object`},
		"nothing":            {``, nil, `forEach: the output of flow "list" is no JSON list: unexpected end of JSON input; it begins with ""`},
		"too many":           {"[" + strings.Repeat("1,", 1000) + "1]", nil, `forEach: the output of flow "list" has 1001 items, more than 1000`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &stepper{flow: makeFlow(node("list"), eachOf("fan", "list"), node("join", "fan"))}
			s.step()
			plan := s.step(putOut("list", tt.output)...)
			if tt.items != nil {
				assert.Len(t, plan.Children, len(tt.items))
				for n, item := range tt.items {
					assert.Equal(t, item, envOf(t, plan, n, "ITEM"))
				}
				return
			}
			assert.Contains(t, detailOf(s.flow, "fan").Message, tt.message)
			if name == "empty" {
				assert.Equal(t, []string{"demo-join"}, started(plan), "at once")
			} else {
				assert.Equal(t, v1alpha1.FlowFailed, states(s.flow)["fan"])
			}
		})
	}
}

// The status may be put off while what comes next is started.
func TestForEachOverAnEmptyListSaysSoWhenItIsRecordedLate(t *testing.T) {
	s := &stepper{flow: makeFlow(node("list"), eachOf("fan", "list"), node("join", "fan"))}
	s.step()
	before := s.flow
	list := putOut("list", "[]")
	join := jobsOf(s.step(list...), runningJob)
	s.flow = before
	s.step(append(list, join...)...)
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["fan"])
	assert.Equal(t, "there are no items", detailOf(s.flow, "fan").Message)
}

func TestForEachAfterACrash(t *testing.T) {
	s := &stepper{flow: makeFlow(each("fan", "a", "b"))}
	first := s.flow
	s.step()
	s.flow = first // its status wasn't written, one of its Jobs was created
	assert.Equal(t, []string{"demo-fan-1"}, started(s.step(item("fan", 0, runningJob))))
	s.step(item("fan", 0, failedJob), item("fan", 1, completeJob))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
}

func TestForEachIsPatientWhenThereAreMany(t *testing.T) {
	many := make([]string, 1000)
	flow := makeFlow()
	for i := range 6 {
		n := each(fmt.Sprint("fan", i), many...)
		n.ForEach.MaxParallel = ptr.To[int32](1)
		flow.Spec.Flows = append(flow.Spec.Flows, n)
	}
	s := &stepper{flow: flow}
	assert.Len(t, s.step().Children, 2, "the others wait until there is room in the status")
	assert.Equal(t, "waits until fewer items of other flows are under way", detailOf(s.flow, "fan2").Message)
}

func TestForEachWhoseItemsAreChanged(t *testing.T) {
	s := &stepper{flow: makeFlow(each("fan", "a", "b", "c"))}
	s.flow.Spec.Flows[0].ForEach.MaxParallel = ptr.To[int32](1)
	job := s.step().Children[0].Object().(*batchv1.Job).DeepCopy()
	s.step(job)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].ForEach.MaxParallel = ptr.To[int32](2) })
	plan := s.step(job)
	assert.Equal(t, []string{"demo-fan-1"}, started(plan), "maxParallel may be changed")
	assert.Empty(t, condition(s.flow, "EditRefused"))

	for what, change := range map[string]func(*v1alpha1.Flow){
		"other items": func(n *v1alpha1.Flow) { n.ForEach.Items = []string{"a", "x"} },
		"no forEach":  func(n *v1alpha1.Flow) { n.ForEach = nil },
	} {
		t.Run(what, func(t *testing.T) {
			s := &stepper{flow: s.flow}
			s.edit(func(f *v1alpha1.JobFlow) { change(&f.Spec.Flows[0]) })
			plan := s.step(job)
			assert.Empty(t, plan.Children)
			assert.Contains(t, condition(s.flow, "EditRefused").Message, `flow "fan": spec.flows[0].forEach: Forbidden`)
			assert.Equal(t, "EditRefused", condition(s.flow, events.ConditionReady).Reason)
			s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].ForEach = &v1alpha1.ForEach{Items: []string{"a", "b", "c"}} })
			assert.Equal(t, []string{"demo-fan-1", "demo-fan-2"}, started(s.step(job)), "put back")
			assert.Empty(t, condition(s.flow, "EditRefused"))
		})
	}
}

// An output is read once a pass, however many nodes run over it, and the Jobs that a flow can come to have are bounded.
func TestForEachIsBounded(t *testing.T) {
	producer := node("list")
	flow := makeFlow(producer)
	for i := range 99 {
		flow.Spec.Flows = append(flow.Spec.Flows, eachOf(fmt.Sprint("n", i), "list"))
	}
	assert.Empty(t, graph.Compile(t.Context(), flow, 0).Problems)
	flow.Spec.Flows = append(flow.Spec.Flows, eachOf("one-more", "list"))
	problems := graph.Compile(t.Context(), flow, 0).Problems
	require.Len(t, problems, 1)
	assert.Equal(t, `spec.flows: Forbidden: there may be 100001 Jobs, more than 100000: forEach.fromOutput counts as 1000 each`, problems[0].String())

	flow = makeFlow(producer, eachOf("a", "list"), eachOf("b", "list"))
	p := &pass{Graph: graph.Compile(t.Context(), flow, 0), spec: &flow.Spec,
		lists: map[string]items.List{}, outputs: outputs.Set{"list": {Name: "list", Value: `["x","y"]`}},
	}
	p.States = make([]record.State, 3)
	a, err := p.listOf(1)
	require.NoError(t, err)
	b, err := p.listOf(2)
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "y"}, a.Values)
	assert.Same(t, &a.Values[0], &b.Values[0])
}
