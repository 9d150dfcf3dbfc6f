package jobflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	ten := `[0,1,2,3,4,5,6,7,8,9]`
	costly := flowWhen(5000, func(i int) string {
		return fmt.Sprintf(`!%[1]s.all(a,%[1]s.all(b,%[1]s.all(c,%[1]s.all(d,true)))) || %[2]d < 0`, ten, i)
	})
	c := compile(costly, 0)
	require.Len(t, c.problems, 1)
	assert.Regexp(t, `^flow "n\d+": spec.flows\[\d+\].when: Forbidden: the expressions up to this one may take \d+ steps together, more than 20000000; this one may take \d+$`,
		c.problems[0].String())
	assert.Less(t, len(c.whens), 2000, "the others aren't compiled")

	long := flowWhen(300, func(int) string { return `jobs.first.output != "` + strings.Repeat("x", 4000) + `"` })
	c = compile(long, 0)
	require.Len(t, c.problems, 1)
	assert.Contains(t, c.problems[0].String(), "bytes together, more than 1048576")

	usual := flowWhen(9999, func(int) string { return `jobs["first"].succeeded || jobs.first.output == "go on"` })
	c = compile(usual, 0)
	assert.Empty(t, c.problems)
	assert.NotNil(t, c.whens[9999], "the last one is compiled")
}

func BenchmarkCompileExpressions(b *testing.B) {
	flow := flowWhen(9999, func(i int) string { return fmt.Sprintf(`jobs["first"].succeeded || jobs.first.output == "%d"`, i) })
	b.ReportAllocs()
	for b.Loop() {
		if c := compile(flow, 0); len(c.problems) > 0 {
			b.Fatal(c.problems)
		}
	}
}
