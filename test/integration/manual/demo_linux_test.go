package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/docs"
	"github.com/armature-dev/armature/test/integration/internal/binary"
)

// TestDemo: what README.md shows of make demo is what it shows on a terminal. UPDATE_DOCS=1 writes it anew. It needs Linux, as
// tools/record does, which is the terminal.
func TestDemo(t *testing.T) {
	t.Parallel()
	binary.Path(t) // is built
	dir := t.TempDir()
	picture := filepath.Join(dir, "demo.svg")
	script, err := filepath.Abs(root + "hack/demo.sh")
	require.NoError(t, err)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "record"), "./tools/record")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	record := exec.CommandContext(t.Context(), filepath.Join(dir, "record"), "-output", picture, "-columns", "100", "-rows", "100", "--", script)
	record.Env = append(os.Environ(), "DEVCLUSTER_BIN="+devclusterBinary(t), "TMPDIR=/tmp")
	out, err = record.CombinedOutput()
	require.NoError(t, err, string(out))
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	shown := sections(ofRun.ReplaceAllString(strings.Join(docs.LastFrame(string(svg)), "\n"), "${1}demo"))

	update := os.Getenv("UPDATE_DOCS") != ""
	page, err := os.ReadFile(root + "README.md")
	require.NoError(t, err)
	want := docs.Blocks(string(page), "demo", func(_, old string) string {
		var parts []string
		for _, heading := range headings.FindAllString(old, -1) {
			assert.Contains(t, shown, heading, "README.md has what make demo doesn't say")
			parts = append(parts, strings.TrimSpace(heading+"\n"+shown[heading]))
		}
		now := strings.Join(parts, "\n\n")
		if !update {
			assert.Equal(t, docs.Plain(now), docs.Plain(old), "UPDATE_DOCS=1 go test ./test/integration/manual -run TestDemo")
		}
		return now
	})
	if update {
		require.NoError(t, os.WriteFile(root+"README.md", []byte(want), 0o600))
	}
}

// ofRun are the names of the cluster and its directory, which differ from run to run.
var ofRun = regexp.MustCompile(`(/tmp/|devcluster-)(?:armature-demo\.\w+|cluster-[0-9a-f]{4})`)

var headings = regexp.MustCompile(`(?m)^==> .*$`)

// sections returns what stands below each heading.
func sections(text string) map[string]string {
	below := map[string]string{}
	at := headings.FindAllStringIndex(text, -1)
	for i, place := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		below[text[place[0]:place[1]]] = strings.Trim(text[place[1]:end], "\n")
	}
	return below
}
