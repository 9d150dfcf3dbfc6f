package docs

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecordings: what the recordings show in the end is what the pages show, which is replayed.
func TestRecordings(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(root + name)
		require.NoError(t, err)
		return string(text)
	}
	script := read("hack/recordings.sh")
	shown := map[string]string{}
	Blocks(read("docs/convert.md"), "session", func(name, old string) string { shown[name] = old; return old })
	Blocks(read("README.md"), "demo", func(_, old string) string { shown["demo"] = old; return old })

	project, _, _ := strings.Cut(after(t, read("README.md"), "```\ncreated backup"), "```")
	for name, want := range map[string]string{
		"lint":  strings.TrimSuffix(after(t, shown["lint"], "$ armature lint -f test/docs/testdata/wrong.yaml\n"), "exit status 1\n"),
		"watch": section(t, shown["demo"], "(bin/armature watch jobflow/jobflow-example)"),
		"new":   "created backup" + project,
	} {
		svg := read("docs/recording-" + name + ".svg")
		title, _, _ := strings.Cut(after(t, svg, "<title>"), "</title>")
		assert.Contains(t, script, html.UnescapeString(title), "the command is one that hack/recordings.sh records")
		// A line that is too long for the picture goes on in the next.
		got, tests, _ := strings.Cut(strings.Join(LastFrame(svg), "\n"), "go test ./...")
		assert.Equal(t, name == "new", strings.Contains(tests, "\nok  \texample.com/backup/operator"), "docs/recording-%s.svg: make test", name)
		got = strings.ReplaceAll(Plain(got), "\n", "")
		want = strings.ReplaceAll(Plain(want), "\n", "")
		assert.Greater(t, len(got), 200, "docs/recording-%s.svg", name)
		assert.Equal(t, letters(want), letters(got), "docs/recording-%s.svg: make recordings", name)
	}
	all, err := filepath.Glob(root + "docs/recording-*.svg")
	require.NoError(t, err)
	assert.Len(t, all, 3, "a recording that no test looks at")
}

// letters sorts the letters of a text: lines may be broken anywhere.
func letters(text string) string {
	count := map[rune]int{}
	for _, r := range text {
		count[r]++
	}
	var b strings.Builder
	for r := rune('!'); r < 0x2800; r++ {
		b.WriteString(strings.Repeat(string(r), count[r]))
	}
	return b.String()
}

func after(t *testing.T, text, mark string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, mark)
	require.True(t, ok, "there is no %q", mark)
	return rest
}

// section returns what stands below a heading of a demo's output.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	rest, _, _ := strings.Cut(after(t, text, heading+"\n"), "\n==> ")
	return rest
}
