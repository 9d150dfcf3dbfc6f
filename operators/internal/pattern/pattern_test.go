package pattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSizeOfWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]int{
		"": 1, "abc": 3, "NCCL .* timeout": 16, `^exit \d+$`: 9, "a{3}": 3, "a{2,4}": 6, "a{2,}": 3, "a{0,}": 3, "a?b+": 4, "(a|bc)": 6,
		"(?i)cuda error|out of memory": 24, "[a-zA-Z0-9_-]+": 2, `\pL`: 21, "(?i)[а-я]+": 5, "[一-龥]": 1, "(?i)[一-龥]": 2612,
		"(?i)gpu-异常": 6, "(?i)[0-9]+ gpu-异常|[^]]x-🚀": 14, "(?i)[[:alpha:]-龥]": 5108, `(?i)[\]-龥]`: 5108, "(?:a{30}){30}": 900,
	} {
		size, err := Size(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, size, text)
	}
	_, err := Size("(")
	assert.ErrorContains(t, err, "error parsing regexp: missing closing )")
}

// Expressions of 1,024 characters that took seconds to parse or to compile, and up to 890 MB.
func TestSizeOfWhatTakesLong(t *testing.T) {
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (1024-len([]rune(begin+end)))/len([]rune(unit))) + end
	}
	for name, text := range map[string]string{
		"repetitions":                    "(?s)(?:" + strings.Repeat(".?", 500) + "){999}z",
		"repeated captures":              "(?:(a)(b)(c)){600}",
		"repeated once more":             "((((a{30}){30})?)*){1,1000}",
		"case-insensitive ranges":        fill("(?i)[", "B-\U0001e942", "]"),
		"case-insensitive classes":       fill("(?i)", "[^B-\U0001e942]", ""),
		"case-insensitive code points":   fill("(?i)[", `B-\x{1e942}`, "]"),
		"an escaped begin":               fill("(?i)[", `\\x{1e000}-\x{1e942}`, "]"),
		"flags together":                 fill("(?ms-Us-i:a)(?s-Uim)[", "B-\U0001e942", "]"),
		"Unicode classes":                fill("(?i)[", `\pL\PN`, "]"),
		"more than the schema's 4 bytes": strings.Repeat("a", 4097),
	} {
		size, err := Size(text)
		assert.True(t, err != nil || size > MaxSize, name)
	}
}

// The number of instructions is never below that of the compiled program, but for its first and last instruction.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"", "a{0}", "(?i)[^k-m]{2,3}|x*?", `(?:a?){40}(\b|$)(?m:^)`, `\Q[B-\E\x{10}-`, "(?i)[é-\U0001e942]", `(?s).\C`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxText {
			return
		}
		size, err := Size(text)
		assert.Positive(t, size)
		if err != nil || size > MaxSize {
			return
		}
		re, err := syntax.Parse(text, syntax.Perl)
		require.NoError(t, err)
		program, err := syntax.Compile(re.Simplify())
		require.NoError(t, err)
		assert.LessOrEqual(t, len(program.Inst), size+2)
		_, err = regexp.Compile(text)
		require.NoError(t, err, "what is parsed compiles")
	})
}

func TestAVerdictIsRemembered(t *testing.T) {
	verdicts.Purge()
	assert.True(t, New("a+b").Match("caab"))
	assert.False(t, New("a+b").Match("ac"))
	assert.False(t, New("a+").Match("bcaab"[:2]))
	assert.Equal(t, 3, verdicts.Len())

	again := New("a+b")
	again.program = nil // a compilation panics
	assert.True(t, again.Match("caab"))
	assert.False(t, again.Match("ac"))
	assert.Equal(t, 3, verdicts.Len())
}
