package jobflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
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
			plan := planOf(makeFlow(node("list"), eachOf("fan", "list"), node("join", "fan")), putOut("list", tt.output)...)
			if tt.items != nil {
				assert.Len(t, plan.Children, len(tt.items))
				for n, item := range tt.items {
					assert.Equal(t, item, envOf(t, plan, n, "ITEM"))
				}
				return
			}
			assert.Contains(t, detailOf(plan.Status, "fan").Message, tt.message)
			if name == "empty" {
				assert.Equal(t, []string{"demo-join"}, started(plan), "at once")
			} else {
				assert.Equal(t, v1alpha1.FlowFailed, states(plan.Status)["fan"])
			}
		})
	}
}

// The status may be put off while what comes next is started.
func TestForEachOverAnEmptyListSaysSoWhenItIsRecordedLate(t *testing.T) {
	flow := after(makeFlow(node("list"), eachOf("fan", "list"), node("join", "fan")))
	flow = after(flow, append(putOut("list", "[]"), runningJob("join"))...)
	assert.Equal(t, v1alpha1.FlowSucceed, states(flow)["fan"])
	assert.Equal(t, "there are no items", detailOf(flow, "fan").Message)
}

func TestForEachAfterACrash(t *testing.T) {
	flow := makeFlow(each("fan", "a", "b")) // its status wasn't written, one of its Jobs was created
	plan := planOf(flow, item("fan", 0, runningJob))
	assert.Equal(t, []string{"demo-fan-1"}, started(plan))
	flow = after(plan.Status, item("fan", 0, failedJob), item("fan", 1, completeJob))
	assert.Equal(t, v1alpha1.StateFailed, flow.Status.State)
}

func TestForEachIsPatientWhenThereAreMany(t *testing.T) {
	many := make([]string, 1000)
	flow := makeFlow()
	for i := range 6 {
		n := each(fmt.Sprint("fan", i), many...)
		n.ForEach.MaxParallel = ptr.To[int32](1)
		flow.Spec.Flows = append(flow.Spec.Flows, n)
	}
	plan := planOf(flow)
	assert.Len(t, plan.Children, 2, "the others wait until there is room in the status")
	assert.Equal(t, "waits until fewer items of other flows are under way", detailOf(plan.Status, "fan2").Message)
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

// A retry runs only the items again that haven't succeeded, however many failed and wherever they are in the list.
func TestARetryKeepsTheItemsThatSucceeded(t *testing.T) {
	for _, nodes := range []int{1, 1001} {
		flow := makeFlow(each("fan", make([]string, graph.MaxItems)...))
		for i := range nodes - 1 {
			flow.Spec.Flows = append(flow.Spec.Flows, node(fmt.Sprint("other", i)))
		}
		var jobs []client.Object
		for _, other := range flow.Spec.Flows[1:] {
			jobs = append(jobs, completeJob(other.Name))
		}
		for n := range graph.MaxItems {
			jobs = append(jobs, item("fan", n, []func(string) *batchv1.Job{completeJob, failedJob}[n%2]))
		}
		flow = after(after(flow), jobs...)
		require.Equal(t, v1alpha1.StateFailed, flow.Status.State)
		flow.Spec.Retry = 1
		plan := planOf(flow)
		assert.Len(t, plan.Children, graph.MaxItems/2, "of %d nodes", nodes)
		for n, child := range plan.Children {
			assert.Equal(t, graph.ItemJobName("demo", "fan", 2*n+1, 1), child.Object().GetName())
		}
	}
}

// The items of failed nodes stay in the status while those of others run, and when a retry begins. Of four such nodes all have room.
func TestItemsOfFailedNodesShareTheStatus(t *testing.T) {
	flow := makeFlow()
	var jobs []client.Object
	for i := range 4 {
		name := fmt.Sprint("fan", i)
		flow.Spec.Flows = append(flow.Spec.Flows, each(name, make([]string, graph.MaxItems)...))
	}
	for i := range 4 { // the status has room for two at a time
		for n := range graph.MaxItems {
			jobs = append(jobs, item(fmt.Sprint("fan", i), n, []func(string) *batchv1.Job{completeJob, failedJob}[n%2]))
		}
		flow = after(flow, jobs...)
	}
	require.Equal(t, v1alpha1.StateFailed, flow.Status.State)
	assert.Len(t, flow.Status.Items, 4)
	flow.Spec.Retry = 1
	flow = after(flow)
	text, err := json.Marshal(flow.Status)
	require.NoError(t, err)
	assert.Len(t, flow.Status.Items, 4, "also of those that wait for their turn")
	assert.Less(t, len(text), 16<<10)
}

// A node whose input is lost while its items run fails when these have ended.
func TestForEachWaitsForItsItemsWhenAnInputIsLost(t *testing.T) {
	fan := each("fan", "a", "b")
	fan.Dependencies = []string{"writer"}
	fan.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	flow := makeFlow(node("writer"), fan)
	flow = after(flow, putOut("writer", "here")...)
	flow.Status.Outputs = nil // it didn't fit
	flow = after(flow, completeJob("writer"), item("fan", 0, runningJob))
	assert.Equal(t, v1alpha1.FlowRunning, states(flow)["fan"])
	assert.Regexp(t, `the output of flow "writer" is lost: .*; fails when the items that run have ended`, detailOf(flow, "fan").Message)
	assert.Empty(t, condition(flow, "Failed").Type)

	flow = after(flow, completeJob("writer"), item("fan", 0, completeJob))
	assert.Equal(t, v1alpha1.FlowFailed, states(flow)["fan"])
	assert.Equal(t, v1alpha1.StateFailed, flow.Status.State)
}

// The message counts the items that have ended, also in passes that start none.
func TestTheMessageOfItemsIsNotOld(t *testing.T) {
	suspended, invalid := makeFlow(each("fan", "a", "b")), makeFlow(each("fan", "a", "b"))
	for name, flow := range map[string]*v1alpha1.JobFlow{"suspended": suspended, "invalid": invalid} {
		t.Run(name, func(t *testing.T) {
			flow := after(flow, item("fan", 0, runningJob), item("fan", 1, runningJob))
			require.Equal(t, "0 of 2 items succeeded", flow.Status.Flows[0].Message)
			flow.Spec.Suspend = flow.Spec.Suspend || name == "suspended"
			if name == "invalid" {
				flow.Spec.Flows = append(flow.Spec.Flows, node("next", "nowhere"))
			}
			flow = after(flow, item("fan", 0, completeJob), item("fan", 1, runningJob))
			assert.Equal(t, "1 of 2 items succeeded", flow.Status.Flows[0].Message)
		})
	}
}

// A Job that someone deletes is created again, as the spec then has it.
func TestAnEditOfAJobThatIsBeingDeletedIsNotRefused(t *testing.T) {
	for name, nodes := range map[string][]v1alpha1.Flow{"node": {node("a")}, "items": {each("a", "x")}} {
		t.Run(name, func(t *testing.T) {
			flow := makeFlow(nodes...)
			job := planOf(flow).Children[0].Object().(*batchv1.Job)
			job.Namespace, job.CreationTimestamp = "default", at(1)
			flow = after(after(flow), job)
			flow.Generation++
			flow.Spec.Flows[0].JobTemplate.Template.Spec.Containers[0].Image = "busybox:2"
			require.Equal(t, "True", string(condition(after(flow, job), "EditRefused").Status))

			job.DeletionTimestamp = new(at(2))
			assert.Empty(t, condition(after(flow, job), "EditRefused").Status)

			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: "True"}}
			assert.Equal(t, "True", string(condition(after(flow, job), "EditRefused").Status), "it ends as it was started")
		})
	}
}
