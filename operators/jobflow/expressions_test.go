package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// flowWhen returns a flow of n nodes after the first, each with an expression.
func flowWhen(n int, text func(i int) string) *v1alpha1.JobFlow {
	flow := makeFlow(node("first"))
	for i := range n {
		next := node(fmt.Sprint("n", i), "first")
		next.When = text(i)
		flow.Spec.Flows = append(flow.Spec.Flows, next)
	}
	return flow
}

// BenchmarkEvaluateExpressions measures a pass over the flow whose expressions cost most.
func BenchmarkEvaluateExpressions(b *testing.B) {
	for name, flow := range map[string]*v1alpha1.JobFlow{
		"cost": flowWhen(105, func(i int) string {
			return fmt.Sprintf(`%[1]s.all(a,%[1]s.all(b,%[1]s.all(c,%[1]s.all(d,true)))) || %[2]d < 0`, ten, i)
		}),
		"symbols": flowWhen(850, func(i int) string { return strings.Repeat("[1].exists(a,a==1)&&", 15) + fmt.Sprint(i, ">=0") }),
	} {
		b.Run(name, func(b *testing.B) {
			flow.Spec.Parallelism = ptr.To[int32](1)
			for b.Loop() {
				s := &stepper{flow: flow}
				s.step()
				if plan := s.step(completeJob("first")); len(plan.Children) != 1 {
					b.Fatalf("%d Jobs: %v", len(plan.Children), graph.Compile(b.Context(), flow, 0).Problems)
				}
			}
		})
	}
}

func BenchmarkCompileExpressions(b *testing.B) {
	flow := flowWhen(9999, func(i int) string { return fmt.Sprintf(`jobs["first"].succeeded || jobs.first.output == "%d"`, i) })
	b.ReportAllocs()
	for b.Loop() {
		if c := graph.Compile(b.Context(), flow, 0); len(c.Problems) > 0 {
			b.Fatal(c.Problems)
		}
	}
}
