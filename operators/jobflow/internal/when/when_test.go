package when

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var jobs = map[string]Job{
	"build":  {Succeeded: true, Output: "gpu"},
	"check":  {Failed: true},
	"a-b":    {Skipped: true},
	"number": {Succeeded: true, Output: "7"},
}

func scope(finally bool) Scope {
	return Scope{Has: func(name string) bool { _, ok := jobs[name]; return ok }, Finally: finally}
}

func TestEval(t *testing.T) {
	for text, want := range map[string]bool{
		`true`:                 true,
		`jobs.build.succeeded`: true,
		`jobs.check.failed || jobs.check.skipped`:  true,
		`jobs.build.output == "gpu"`:               true,
		`jobs["a-b"].skipped`:                      true,
		`jobs["a-b"].succeeded`:                    false,
		`int(jobs.number.output) > 6`:              true,
		`jobs.all(name, !jobs[name].failed)`:       false,
		`jobs.exists(name, jobs[name].failed)`:     true,
		`"build" in jobs`:                          true,
		`has(jobs.nowhere)`:                        false,
		`jobs.build.output.matches("^g.u$")`:       true,
		`jobs.build.output in ["cpu", "gpu"]`:      true,
		`google.protobuf.Int32Value{value: 7} > 6`: true, // a type of CEL
	} {
		x, err := Compile(text, scope(false))
		require.NoError(t, err, text)
		got, err := x.Eval(t.Context(), jobs, "")
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	x, err := Compile(`state == "Failed" && jobs.check.failed`, scope(true))
	require.NoError(t, err)
	got, err := x.Eval(t.Context(), jobs, "Failed")
	require.NoError(t, err)
	assert.True(t, got)
}

func TestCompileSaysWhatIsWrongAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		`jobs.build.succeeded &&`:            `line 1, column 24: Syntax error: mismatched input '<EOF>'`,
		`jobs.build.succeded`:                `line 1, column 11: undefined field 'succeded'`,
		`jobs.build.output`:                  `line 1, column 1: it is of type string, and must be a bool`,
		`jobs.build`:                         `line 1, column 1: it is of type Job, and must be a bool`,
		`job.build.failed`:                   `line 1, column 1: undeclared reference to 'job'`,
		`jobs.build.output == 7`:             `line 1, column 19: found no matching overload for '_==_'`,
		"true &&\n  jobs.bild.failed":        `line 2, column 7: jobs has no "bild": it isn't among the dependencies`,
		`jobs["bi-ld"].failed`:               `line 1, column 5: jobs has no "bi-ld"`,
		`jobs.a-b.skipped`:                   `a name with a hyphen needs brackets: jobs["a-b"]`,
		`jobs.exists(n, jobs.x.failed)`:      `line 1, column 20: jobs has no "x"`,
		`state == "Failed"`:                  `line 1, column 1: undeclared reference to 'state'`,
		`Job{failed: true}.failed && x && y`: `(and 1 more)`,
		``:                                   `line 1, column 1: Syntax error`,
	} {
		_, err := Compile(text, scope(false))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
	_, err := Compile(`jobs.x.failed`, scope(true))
	assert.ErrorContains(t, err, `jobs has no "x": no flow has this name`)
}

func TestSuccessHasNoOutputs(t *testing.T) {
	all := scope(false)
	all.Success = true
	for text, want := range map[string]string{
		`jobs.build.output == "gpu"`:              `line 1, column 11: outputs can't be read here`,
		`jobs.exists(n, jobs[n].output == "gpu")`: `outputs can't be read here`,
		`[jobs.build].exists(j, has(j.output))`:   `outputs can't be read here`,
		`jobs.x.failed`:                           `jobs has no "x": no flow has this name`,
		`state == "Failed"`:                       `undeclared reference to 'state'`,
	} {
		_, err := Compile(text, all)
		assert.ErrorContains(t, err, want, text)
	}
	x, err := Compile(`dyn(jobs.build)["out" + "put"] == ""`, all)
	require.NoError(t, err)
	_, err = x.Eval(t.Context(), jobs, "")
	require.ErrorContains(t, err, "no such key: output", "it isn't empty either")

	all.Has = func(name string) bool { return name == "output" }
	x, err = Compile(`jobs.output.succeeded && jobs["output"].succeeded`, all)
	require.NoError(t, err)
	ok, err := x.Eval(t.Context(), map[string]Job{"output": {Succeeded: true}}, "")
	require.NoError(t, err)
	assert.True(t, ok)
}

func TestEvalFails(t *testing.T) {
	for text, want := range map[string]string{
		`int(jobs.build.output) > 1`:             "type conversion error",
		`jobs[jobs.build.output].failed`:         "no such key: gpu",
		`1 / int(jobs.number.output + "x") == 1`: "type conversion error",
	} {
		x, err := Compile(text, scope(false))
		require.NoError(t, err, text)
		_, err = x.Eval(t.Context(), jobs, "")
		assert.ErrorContains(t, err, want, text)
	}
}

func TestEvalIsBounded(t *testing.T) {
	many := map[string]Job{}
	for i := range 100 {
		many[fmt.Sprint("n", i)] = Job{Output: strings.Repeat("x", 100)}
	}
	x, err := Compile(`jobs.all(a, jobs.all(b, jobs.all(c, jobs[a].output + jobs[b].output != jobs[c].output)))`, scope(false))
	require.NoError(t, err)
	_, err = x.Eval(t.Context(), many, "")
	assert.ErrorContains(t, err, "cost limit exceeded")
}

func TestNames(t *testing.T) {
	for text, want := range map[string]struct {
		names   []string
		some    bool
		outputs bool
	}{
		`true`: {nil, true, false},
		`jobs.build.failed || jobs.check.failed || jobs.build.skipped`: {[]string{"build", "check"}, true, false},
		`jobs["a-b"].output == ""`:                                     {[]string{"a-b"}, true, true},
		`jobs.exists(n, jobs[n].failed)`:                               {nil, false, false},
		`jobs.build.failed && "x" in jobs`:                             {[]string{"build"}, false, false},
	} {
		x, err := Compile(text, scope(false))
		require.NoError(t, err, text)
		names, some := x.Names()
		assert.Equal(t, want.names, names, text)
		assert.Equal(t, want.some, some, text)
		assert.Equal(t, want.outputs, x.NeedsOutputs(), text)
	}
}

// What an expression may cost is known before it is evaluated.
func TestCost(t *testing.T) {
	for text, atMost := range map[string]uint64{
		`jobs.build.succeeded`:                                5,
		`jobs["a-b"].failed || jobs.check.skipped`:            10,
		`jobs.all(name, !jobs[name].failed)`:                  50,
		`jobs.build.output == "gpu"`:                          10,
		`jobs.build.output.matches("^g.u$")`:                  1000,
		`jobs.build.output.contains("x")`:                     500,
		`![0,1,2,3].all(a,[0,1,2,3].all(b,a==b))`:             200,
		`int(jobs.number.output) > 6 && jobs.build.succeeded`: 50,
	} {
		x, err := Compile(text, Scope{Has: scope(false).Has, Jobs: 4})
		require.NoError(t, err, text)
		assert.Positive(t, x.Cost(), text)
		assert.LessOrEqual(t, x.Cost(), atMost, text)
	}
	ten := `[0,1,2,3,4,5,6,7,8,9]`
	x, err := Compile(`!`+ten+`.all(a,`+ten+`.all(b,`+ten+`.all(c,`+ten+`.all(d,true))))`, scope(false))
	require.NoError(t, err)
	assert.Greater(t, x.Cost(), uint64(10_000))
	x, err = Compile(`jobs.all(a, jobs.all(b, jobs.all(c, a == b || b == c)))`, Scope{Has: scope(false).Has, Jobs: 10_000, Finally: true})
	require.NoError(t, err)
	assert.Equal(t, uint64(maxCost), x.Cost(), "an evaluation ends there")
}

// Programs are shared by what they follow from, and only the last ones are kept.
func TestProgramsAreSharedAndFew(t *testing.T) {
	programs.Purge()
	for range 3 {
		for i := range 4 {
			x, err := Compile(fmt.Sprintf(`jobs.build.succeeded && %d < 2`, i%2), scope(false))
			require.NoError(t, err)
			_, err = x.Eval(t.Context(), jobs, "")
			require.NoError(t, err)
		}
	}
	assert.Equal(t, 2, programs.Len())
	for i := range maxPrograms + 10 {
		x, err := Compile(fmt.Sprintf(`%d == 1`, i), scope(false))
		require.NoError(t, err)
		_, err = x.Eval(t.Context(), jobs, "")
		require.NoError(t, err)
	}
	assert.Equal(t, maxPrograms, programs.Len())
}

// An expression can match with one pattern many times.
func TestAPatternIsCompiledOnce(t *testing.T) {
	const ten = `[0,1,2,3,4,5,6,7,8,9]`
	text := `!jobs.build.output.matches("` + strings.Repeat(`\\pL`, 10) + `")`
	x, err := Compile(fmt.Sprintf(`%[1]s.all(i, %[1]s.all(j, %[2]s))`, ten, text), scope(false))
	require.NoError(t, err)
	eval := func() {
		yes, err := x.Eval(t.Context(), jobs, "")
		require.NoError(t, err)
		assert.True(t, yes)
	}
	eval()
	assert.Less(t, testing.AllocsPerRun(1, eval), 10_000., "with a compilation in each call it takes 38,000")
}

// A pattern of a few characters can be a large program, whose compilation nothing interrupts.
func TestPatternsAreBounded(t *testing.T) {
	huge := `"(?s)(?:` + strings.Repeat(".?", 500) + `){999}z"`
	for _, text := range []string{`jobs.build.output.matches(` + huge + `)`, `matches("", ` + huge + `) || jobs.build.succeeded`} {
		_, err := Compile(text, scope(false))
		assert.ErrorContains(t, err, "the regular expressions up to this one have 999001 instructions together, more than 2000")
	}
	x, err := Compile(`[`+huge+`].exists(p, jobs.build.output.matches(p))`, scope(false))
	require.NoError(t, err)
	_, err = x.Eval(t.Context(), jobs, "")
	assert.ErrorContains(t, err, "cost limit exceeded")

	short, err := Compile(`jobs.build.output.matches("(?:a?){900}")`, scope(false))
	require.NoError(t, err)
	assert.Equal(t, uint64(maxCost), short.Cost(), "a repetition costs as much as what it repeats")
	_, err = short.Eval(t.Context(), map[string]Job{"build": {Output: strings.Repeat("a", 4096)}}, "")
	require.ErrorContains(t, err, "cost limit exceeded")
	long, err := Compile(`jobs.build.output.matches("(?:a?){350}")`, scope(false))
	require.NoError(t, err)
	_, err = long.Eval(t.Context(), map[string]Job{"build": {Output: strings.Repeat("a", 4096)}}, "")
	require.ErrorContains(t, err, "a text of 4096 characters and a regular expression of 700 instructions are too large together")

	usual, err := Compile(`jobs.build.output.matches(".*err.*")`, scope(false))
	require.NoError(t, err)
	assert.Less(t, usual.Cost(), uint64(1000), "as CEL counts it")

	for text, want := range map[string]string{
		`jobs.build.output.matches("(")`:       "error parsing regexp: missing closing )",
		`dyn(1).matches("a")`:                  "no such overload",
		`jobs.build.output.matches(dyn(true))`: "no such overload",
	} {
		x, err := Compile(text, scope(false))
		require.NoError(t, err, "as before, the evaluation fails")
		_, err = x.Eval(t.Context(), jobs, "")
		assert.ErrorContains(t, err, want)
	}
}
