package jobflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// maxStatus is what no status may exceed, as JSON.
const maxStatus = 100 << 10

// longNamed returns a flow of n nodes with the longest names there are.
func longNamed(n int) *v1alpha1.JobFlow {
	flow := makeFlow()
	flow.Name = strings.Repeat("f", 63)
	for i := range n {
		name := fmt.Sprintf("%s-%05d", strings.Repeat("n", 57), i)
		flow.Spec.Flows = append(flow.Spec.Flows, nodeRef(name, "t"))
	}
	return flow
}

// TestStatusIsBounded lets the Jobs of flows of all sizes run and end in all patterns that are bad for intervals, with
// messages that are bad for JSON.
func TestStatusIsBounded(t *testing.T) {
	patterns := map[string]func(i int) *batchv1.Job{
		"all running":         func(int) *batchv1.Job { return runningJob("x") },
		"all failed":          func(int) *batchv1.Job { return failedJob("x") },
		"all succeeded":       func(int) *batchv1.Job { return completeJob("x") },
		"every other failed":  func(i int) *batchv1.Job { return []*batchv1.Job{failedJob("x"), completeJob("x")}[i%2] },
		"every other running": func(i int) *batchv1.Job { return []*batchv1.Job{failedJob("x"), runningJob("x")}[i%2] },
		"succeeded, failed, running": func(i int) *batchv1.Job {
			return []*batchv1.Job{completeJob("x"), failedJob("x"), runningJob("x")}[i%3]
		},
	}
	for _, n := range []int{1, 100, 101, 1000, 1001, 4000, 4001, 10_000} {
		for name, pattern := range patterns {
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				flow := longNamed(n)
				flow.Spec.Finally = []v1alpha1.Flow{node("last")}
				grow(t, flow, pattern)
			})
		}
	}
}

func TestStatusIsBoundedInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flow := longNamed(rapid.SampledFrom([]int{90, 500, 1500, 4001}).Draw(t, "nodes"))
		random := rapid.Uint64().Draw(t, "seed")
		ends := []func(string) *batchv1.Job{runningJob, completeJob, failedJob}
		grow(t, flow, func(int) *batchv1.Job {
			random = random*6364136223846793005 + 1442695040888963407
			return ends[random>>33%3]("x")
		})
	})
}

// grow runs a flow in three steps, in which its Jobs come to be as the pattern says, and looks at the status each time.
func grow(t assert.TestingT, flow *v1alpha1.JobFlow, pattern func(i int) *batchv1.Job) {
	check := func(plan builder.Plan[*v1alpha1.JobFlow]) {
		if plan.Status == nil {
			return
		}
		flow = plan.Status
		text, err := json.Marshal(flow.Status)
		assert.NoError(t, err)
		assert.Less(t, len(text), maxStatus)
	}
	referred := jobTemplate("t")
	step := func(seconds int, jobs []client.Object) {
		check(Plan(flow, buildertest.WithWatched(buildertest.NewView(at(seconds).Time, jobs...), referred)))
	}
	step(1, nil)
	var jobs []client.Object
	for i := range flow.Spec.Flows {
		job := pattern(i)
		job.Name = JobName(flow.Name, flow.Spec.Flows[i].Name)
		job.UID = types.UID(job.Name)
		for c := range job.Status.Conditions {
			job.Status.Conditions[c].Message = strings.Repeat("<\u2028\"", 200)
		}
		jobs = append(jobs, job)
		if i == len(flow.Spec.Flows)/2 {
			step(2, jobs)
		}
	}
	step(3, jobs)
	step(4, nil) // all Jobs are deleted
}

// TestStatusWithOutputsAndItemsIsBounded adds what else there may be in a status.
func TestStatusWithOutputsAndItemsIsBounded(t *testing.T) {
	for _, n := range []int{50, 1000, 10_000} {
		flow := longNamed(n)
		nodes := flow.Spec.Flows
		var jobs []client.Object
		for i := range n / 2 { // each other node puts something out, and the one behind it needs it, but has to wait
			writer, reader := &nodes[2*i], &nodes[2*i+1]
			reader.Dependencies = []string{writer.Name, nodes[n-2].Name}
			reader.Inputs = []v1alpha1.Input{{Env: "X", From: writer.Name}}
			if i == n/2-1 {
				writer.ForEach = &v1alpha1.ForEach{Items: make([]string, graph.MaxItems)}
				reader.Dependencies, reader.Inputs = nil, nil
				for item := range graph.MaxItems {
					job := []*batchv1.Job{completeJob("x"), failedJob("x"), runningJob("x")}[item%3]
					job.Name = graph.ItemJobName(flow.Name, writer.Name, item, 0)
					job.Labels = map[string]string{LabelFlow: writer.Name, LabelItem: fmt.Sprint(item)}
					jobs = append(jobs, job)
				}
				continue
			}
			out := putOut("x", strings.Repeat("&", 300))
			job := out[0]
			job.SetName(JobName(flow.Name, writer.Name))
			job.SetUID(types.UID(job.GetName()))
			out[1].SetName(job.GetName() + "-pod")
			out[1].GetOwnerReferences()[0].Name, out[1].GetOwnerReferences()[0].UID = job.GetName(), job.GetUID()
			jobs = append(jobs, out...)
		}
		for range 3 {
			plan := Plan(flow, buildertest.WithWatched(buildertest.NewView(at(5).Time, jobs...), jobTemplate("t")))
			if plan.Status == nil {
				continue
			}
			flow = plan.Status
			text, err := json.Marshal(flow.Status)
			assert.NoError(t, err)
			assert.Less(t, len(text), maxStatus, n)
			assert.NotEmpty(t, flow.Status.Outputs, n)
			assert.Len(t, flow.Status.Items, 1, n)
		}
	}
}
