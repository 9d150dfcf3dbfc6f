package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"one two three":                   "one two\nthree",
		"one\ntwo three":                  "one two\nthree",
		"one\n\ntwo\nthree":               "one\n\ntwo three",
		"list:\n  - one two three\nafter": "list:\n  - one two three\nafter",
		"averylongword a":                 "averylongword\na",
	} {
		assert.Equal(t, want, wrap(text, 9), text)
	}
}

// The help of each command fits, flags too.
func TestWrapHelp(t *testing.T) {
	long := strings.Repeat("some words ", 20)
	root := &cobra.Command{Use: "root"}
	below := &cobra.Command{Use: "below", Long: long, Run: func(*cobra.Command, []string) {}}
	below.Flags().String("flag", "", long)
	root.AddCommand(below)
	var out bytes.Buffer
	root.SetOut(&out)
	WrapHelp(root)
	root.SetArgs([]string{"below", "--help"})
	require.NoError(t, root.Execute())
	assert.Contains(t, out.String(), "some words")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line), helpWidth+1, line)
	}
}
