package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Replayed are the pages whose sessions tests play, and the tests.
var replayed = map[string]string{
	"docs/tutorial.md": "docs/tutorial.md", "docs/convert.md": "docs/convert.md", "docs/daemonjob.md": "docs/daemonjob.md",
	"docs/fluxjob.md": "docs/fluxjob.md", "docs/replicajob.md": "docs/replicajob.md", "devcluster/README.md": "devcluster/README.md",
}

// markers say where a block comes from; each has a test that fails if it is stale.
var markers = regexp.MustCompile("(?s)<!-- (file|session|demo|message|recorded): [^\n]*? -->\n```.*?\n```")

// output is what looks like what a command prints: a prompt, or a demo's heading, also in an indented block.
var output = regexp.MustCompile(`(?m)^ *(\$ |==> ).*$`)

// pages returns the files of the manual.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CONTRIBUTING.md", "devcluster/README.md"}
	for _, dir := range []string{"docs", "examples"} {
		require.NoError(t, filepath.WalkDir(root+dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".md" {
				all = append(all, strings.TrimPrefix(path, root))
			}
			return err
		}))
	}
	return all
}

// TestEveryOutputIsReplayed: what pages show of what commands print has a marker that says where it comes from, and so a test.
// docs/cli.md is replayed as a whole by test/integration/cli; docs/benchmarks.md is written by make bench.
func TestEveryOutputIsReplayed(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(root + page)
		require.NoError(t, err)
		if page == "docs/cli.md" {
			continue
		}
		for _, found := range output.FindAllString(markers.ReplaceAllString(string(text), ""), -1) {
			t.Errorf("%s shows an output that no test replays: %s", page, found)
		}
		Blocks(string(text), "session", func(name, old string) string {
			seen++
			assert.NotEmpty(t, replayed[page], "no test plays the session %s of %s", name, page)
			return old
		})
	}
	assert.Greater(t, seen, 6)
	harness, err := os.ReadFile(root + "test/integration/manual/pages_test.go")
	require.NoError(t, err)
	for page := range replayed {
		assert.Contains(t, string(harness), `"`+page+`"`)
	}
}

// TestRecorded: a block that was recorded from a script has headings of that script.
func TestRecorded(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^==> (.*)$`)
	seen := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(root + page)
		require.NoError(t, err)
		Blocks(string(text), "recorded", func(script, old string) string {
			source, err := os.ReadFile(root + script)
			require.NoError(t, err)
			for _, found := range heading.FindAllStringSubmatch(old, -1) {
				seen++
				assert.Contains(t, string(source), `step "`+found[1], "%s shows what %s doesn't say", page, script)
			}
			return old
		})
	}
	assert.NotZero(t, seen)
}
