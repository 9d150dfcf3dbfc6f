package jobflow

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// shapes are graphs of n nodes.
var shapes = []struct {
	name         string
	dependencies func(i int) []string
}{
	{"wide", func(int) []string { return nil }},
	{"chain", func(i int) []string {
		if i == 0 {
			return nil
		}
		return []string{"n" + strconv.Itoa(i-1)}
	}},
	{"layered by 50", func(i int) []string {
		var all []string
		for d := i/50*50 - 50; d >= 0 && d < i/50*50; d++ {
			all = append(all, "n"+strconv.Itoa(d))
		}
		return all
	}},
}

// flowOf returns a flow of n nodes, as an API server has stored it.
func flowOf(n int, dependencies func(i int) []string) *v1alpha1.JobFlow {
	flow := makeFlow()
	flow.ResourceVersion = "1"
	for i := range n {
		flow.Spec.Flows = append(flow.Spec.Flows, node("n"+strconv.Itoa(i), dependencies(i)...))
	}
	return flow
}

// BenchmarkPlan measures a pass in which nothing is to be done: in the middle of a flow, with a Job for each node that
// has been started, half of which have ended.
func BenchmarkPlan(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{1000, 2000, 4000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				flow, view := halfway(b, flowOf(n, shape.dependencies))
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					if plan := Plan(flow, view); plan.Status != nil || len(plan.Children) > 0 {
						b.Fatalf("there is something to do: %d Jobs", len(plan.Children))
					}
				}
			})
		}
	}
}

// BenchmarkCompile measures what is done once for each generation.
func BenchmarkCompile(b *testing.B) {
	for _, shape := range shapes {
		flow := flowOf(4000, shape.dependencies)
		b.Run(shape.name+"/4000", func(b *testing.B) {
			for b.Loop() {
				graph.Compile(b.Context(), flow, 0)
			}
		})
	}
}

// BenchmarkStart measures a pass that starts n Jobs.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		flow := flowOf(n, shapes[0].dependencies)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if plan := Plan(flow, buildertest.NewView(epoch)); len(plan.Children) != n {
					b.Fatal(len(plan.Children))
				}
			}
		})
	}
}

// halfway runs a flow until half of its Jobs have ended, and returns it with what a further pass sees.
func halfway(tb testing.TB, flow *v1alpha1.JobFlow) (*v1alpha1.JobFlow, builder.View) {
	jobs := map[string]*batchv1.Job{}
	var objs []client.Object
	now := epoch
	for ended := 0; ; {
		now = now.Add(time.Second)
		view := buildertest.NewView(now, objs...)
		plan := Plan(flow, view)
		if plan.Status != nil {
			flow = plan.Status
		}
		for _, c := range plan.Children {
			job := c.Object().(*batchv1.Job).DeepCopy()
			job.UID = types.UID(job.Name)
			job.CreationTimestamp = metav1.NewTime(now)
			jobs[job.Name] = job
		}
		objs = objs[:0:0]
		for _, job := range jobs {
			if len(job.Status.Conditions) == 0 && ended < len(flow.Spec.Flows)/2 {
				job.Status = completeJob("x").Status
				ended++
			}
			objs = append(objs, job)
		}
		if plan.Status == nil && len(plan.Children) == 0 {
			return flow, buildertest.NewView(now, objs...)
		}
	}
}
