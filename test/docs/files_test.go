package docs

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFiles: the files that pages show are as they are. UPDATE_DOCS=1 writes the pages anew.
func TestFiles(t *testing.T) {
	blocks := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(root + page)
		require.NoError(t, err)
		want := Blocks(string(text), "file", func(name, _ string) string {
			blocks++
			content, err := os.ReadFile(root + name)
			require.NoError(t, err)
			return string(content)
		})
		if os.Getenv("UPDATE_DOCS") != "" && want != string(text) {
			require.NoError(t, os.WriteFile(root+page, []byte(want), 0o600))
		}
		assert.Equal(t, want, string(text), "%s: UPDATE_DOCS=1 go test ./test/docs", page)
	}
	assert.Greater(t, blocks, 12)
}

// TestAJobKindIsShort: a job kind on the engine of ReplicaJobs, and the program that runs it, have fewer than 60 lines each.
func TestAJobKindIsShort(t *testing.T) {
	for _, example := range []string{"tfjob", "torchjob"} {
		for _, name := range []string{"operator/operator.go", "main.go"} {
			text, err := os.ReadFile(root + "examples/" + example + "/" + name)
			require.NoError(t, err)
			assert.Less(t, bytes.Count(text, []byte("\n")), 60, "examples/%s/%s", example, name)
		}
	}
}
