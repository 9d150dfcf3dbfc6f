package jobflow

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
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
				if plan := planOf(after(flow), completeJob("first")); len(plan.Children) != 1 {
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

const ten = `[0,1,2,3,4,5,6,7,8,9]`

// costly is an expression that costs some 40,000.
func costly(value string) string {
	return fmt.Sprintf(`%[1]s.all(a,%[1]s.all(b,%[1]s.all(c,%[1]s.all(d,true)))) && %[2]s`, ten, value)
}

// A pass evaluates a part of the expressions and goes on in the next one, so that it gives way to those of other owners.
func TestAPassGivesWay(t *testing.T) {
	for name, start := range map[string]string{"skipped": "false", "started": "true"} {
		t.Run(name, func(t *testing.T) {
			flow := after(flowWhen(50, func(int) string { return costly(start) }))
			passes, done := 0, 0
			jobs := map[string]bool{}
			observed := []client.Object{completeJob("first")}
			for done < 50 {
				passes++
				require.Less(t, passes, 50)
				plan := planOf(flow, observed...)
				require.NotNil(t, plan.Status)
				flow = plan.Status
				for _, name := range started(plan) {
					jobs[name] = true
					observed = append(observed, runningJob(name[len("demo-"):]))
				}
				before := done
				done = int(flow.Status.Counts.Skipped) + len(jobs)
				require.Greater(t, done, before, "each pass comes further")
				assert.Less(t, done-before, 20)
				if done < 50 {
					assert.LessOrEqual(t, plan.RequeueAfter, time.Second)
					assert.NotZero(t, plan.RequeueAfter)
					assert.Zero(t, plan.StatusCanWait, "the next pass builds on it")
				}
			}
			assert.Greater(t, passes, 4)
		})
	}
}

// A pass that can come no further doesn't come back: what it waits for wakes it. Nothing behind is left undecided.
func TestAPassThatComesNoFurtherEvaluatesEverything(t *testing.T) {
	flow := flowWhen(40, func(i int) string { return costly(fmt.Sprint(i < 39)) })
	flow.Spec.Parallelism = ptr.To[int32](1)
	flow = after(flow)
	require.Len(t, started(planOf(flow, completeJob("first"))), 1)
	for range 5 {
		flow = after(flow, completeJob("first"), runningJob("n0"))
	}
	plan := planOf(flow, completeJob("first"), runningJob("n0"))
	assert.Empty(t, started(plan))
	assert.Zero(t, plan.RequeueAfter)
	assert.Equal(t, int32(1), flow.Status.Counts.Skipped)
}

// When its context ends, a plan returns early; nothing of it is kept.
func TestAPlanEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	flow := flowWhen(9999, func(i int) string { return fmt.Sprintf(`jobs["first"].succeeded || jobs.first.output == "%d"`, i) })
	assert.Empty(t, newPass(flow, buildertest.NewView(epoch).WithContext(ctx)).Whens, "it compiles nothing")
	assert.Len(t, newPass(flow, buildertest.NewView(epoch)).Whens, 9999)
}
