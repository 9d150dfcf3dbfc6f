package when

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What compiles costs no more than the bound, and what is evaluated ends with a value or an error.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		`jobs.build.succeeded && !(jobs["a-b"].output in ["cpu", "gpu"])`, `jobs.all(n, jobs[n].output.matches("^g.u$"))`,
		`int(jobs.number.output) > 6 ? state == "Failed" : has(jobs.nowhere)`, `[0,1].all(a,[0,1].all(b,{"c": a+b}.size() == 1))`,
		`"x".replace("x", "y") == jobs.build.output + 'z' || duration("1h") > duration("60s")`, "((((", "jobs.a-b", "\x00é\u202e",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, finally bool) {
		if len(text) > 4096 {
			return // the schema has that bound
		}
		s := scope(finally)
		s.Jobs = len(jobs)
		x, err := Compile(text, s)
		if err != nil {
			var wrong *Error
			assert.ErrorAs(t, err, &wrong)
			assert.NotEmpty(t, wrong.Message)
			assert.LessOrEqual(t, len(wrong.Message), 16<<10, "it is shown to people")
			return
		}
		assert.LessOrEqual(t, x.Cost(), uint64(maxCost))
		if names, some := x.Names(); some {
			for _, name := range names {
				assert.Contains(t, jobs, name)
			}
		}
		first, err := x.Eval(t.Context(), jobs, "Failed")
		again, errAgain := x.Eval(t.Context(), jobs, "Failed")
		assert.Equal(t, first, again)
		assert.Equal(t, err == nil, errAgain == nil, "it depends on nothing else")
	})
}
