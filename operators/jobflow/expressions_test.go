package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
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

// No flow takes more than its share of the manager's time: neither by few expressions that cost much, nor by many.
func TestExpressionsOfOneFlowAreBoundedTogether(t *testing.T) {
	costly := flowWhen(5000, func(i int) string {
		return fmt.Sprintf(`!%[1]s.all(a,%[1]s.all(b,%[1]s.all(c,%[1]s.all(d,true)))) || %[2]d < 0`, ten, i)
	})
	c := compile(t.Context(), costly, 0)
	require.Len(t, c.problems, 1)
	assert.Regexp(t, `^flow "n\d+": spec.flows\[\d+\].when: Forbidden: the expressions up to this one may take \d+ steps together, more than 5000000; this one may take \d+$`,
		c.problems[0].String())
	assert.Less(t, len(c.whens), 500, "the others aren't compiled")

	long := flowWhen(300, func(int) string { return `jobs.first.output != "` + strings.Repeat("x", 4000) + `"` })
	c = compile(t.Context(), long, 0)
	require.Len(t, c.problems, 1)
	assert.Contains(t, c.problems[0].String(), "bytes together, more than 1048576")

	for name, text := range map[string]string{
		"lists":  "[" + strings.Repeat("1,", 60) + "1] != []",
		"macros": strings.Repeat("[1].exists(a,a==1)&&", 20) + "true",
		"signs":  strings.Repeat("!!", 60) + "true",
	} {
		c = compile(t.Context(), flowWhen(5000, func(int) string { return text }), 0)
		require.Len(t, c.problems, 1, name)
		assert.Contains(t, c.problems[0].String(), "names, numbers, texts and other symbols together, more than 200000", name)
		assert.Less(t, len(c.whens), 5000, name)
	}

	usual := flowWhen(9999, func(int) string { return `jobs["first"].succeeded || jobs.first.output == "go on"` })
	c = compile(t.Context(), usual, 0)
	assert.Empty(t, c.problems)
	assert.NotNil(t, c.whens[9999], "the last one is compiled")
}

func TestSymbols(t *testing.T) {
	for text, want := range map[string]int{
		``:                                      0,
		`true`:                                  1,
		`jobs.first.succeeded`:                  5,
		`jobs["a b"].output == "it\"s, a text"`: 9,
		`a1+22 < 'x'`:                           5,
		`[1,2,3]`:                               7,
		"a\n b\tc":                              3,
		`"never ends`:                           1,
		`ends in \`:                             3,
	} {
		assert.Equal(t, want, symbolsIn(text), text)
	}
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
					b.Fatalf("%d Jobs: %v", len(plan.Children), compile(b.Context(), flow, 0).problems)
				}
			}
		})
	}
}

func BenchmarkCompileExpressions(b *testing.B) {
	flow := flowWhen(9999, func(i int) string { return fmt.Sprintf(`jobs["first"].succeeded || jobs.first.output == "%d"`, i) })
	b.ReportAllocs()
	for b.Loop() {
		if c := compile(b.Context(), flow, 0); len(c.problems) > 0 {
			b.Fatal(c.problems)
		}
	}
}
