package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No flow takes more than its share of the manager's time: neither by few expressions that cost much, nor by many.
func TestExpressionsOfOneFlowAreBoundedTogether(t *testing.T) {
	costly := flowWhen(5000, func(i int) string {
		return fmt.Sprintf(`!%[1]s.all(a,%[1]s.all(b,%[1]s.all(c,%[1]s.all(d,true)))) || %[2]d < 0`, ten, i)
	})
	c := Compile(t.Context(), costly, 0)
	require.Len(t, c.Problems, 1)
	assert.Regexp(t, `^flow "n\d+": spec.flows\[\d+\].when: Forbidden: the expressions up to this one may take \d+ steps together, more than 5000000; this one may take \d+$`,
		c.Problems[0].String())
	assert.Less(t, len(c.Whens), 500, "the others aren't compiled")

	long := flowWhen(300, func(int) string { return `jobs.first.output != "` + strings.Repeat("x", 4000) + `"` })
	c = Compile(t.Context(), long, 0)
	require.Len(t, c.Problems, 1)
	assert.Contains(t, c.Problems[0].String(), "bytes together, more than 1048576")

	for name, text := range map[string]string{
		"lists":  "[" + strings.Repeat("1,", 60) + "1] != []",
		"macros": strings.Repeat("[1].exists(a,a==1)&&", 20) + "true",
		"signs":  strings.Repeat("!!", 60) + "true",
	} {
		c = Compile(t.Context(), flowWhen(5000, func(int) string { return text }), 0)
		require.Len(t, c.Problems, 1, name)
		assert.Contains(t, c.Problems[0].String(), "names, numbers, texts and other symbols together, more than 200000", name)
		assert.Less(t, len(c.Whens), 5000, name)
	}

	usual := flowWhen(9999, func(int) string { return `jobs["first"].succeeded || jobs.first.output == "go on"` })
	c = Compile(t.Context(), usual, 0)
	assert.Empty(t, c.Problems)
	assert.NotNil(t, c.Whens[9999], "the last one is compiled")
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

// What an expression reads counts, not only its steps: a short text may read the ends of all nodes.
func TestWhatExpressionsLookAtIsBoundedTogether(t *testing.T) {
	for name, text := range map[string]string{
		"ends":    `jobs.size() > 0`,
		"outputs": `jobs.size() > 0 || "output" == ""`,
	} {
		t.Run(name, func(t *testing.T) {
			flow := makeFlow()
			for i := range 9900 {
				flow.Spec.Flows = append(flow.Spec.Flows, node(fmt.Sprint("n", i)))
			}
			for i := range 100 {
				last := node(fmt.Sprint("f", i))
				last.When = text
				flow.Spec.Finally = append(flow.Spec.Finally, last)
			}
			c := Compile(t.Context(), flow, 0)
			require.Len(t, c.Problems, 1)
			assert.Contains(t, c.Problems[0].String(), "steps together, more than 5000000")
			assert.Less(t, len(c.OutputUses), 500_000)
			assert.GreaterOrEqual(t, c.weight(), 10_000+len(c.OutputUses), "the cache knows how large it is")
		})
	}
}

const ten = `[0,1,2,3,4,5,6,7,8,9]`
