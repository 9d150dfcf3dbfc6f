package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// TestRun lets every peer have its turn, in a small size.
func TestRun(t *testing.T) {
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = "../../../bin/devcluster"
	}
	require.FileExists(t, binary, "make bin/devcluster")
	ctrl.SetLogger(logr.Discard())
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(file, []byte("# Title\n"+lab.Begin(page)+"\nold\n"+lab.End(page)+"\nfoot\n"), 0o600))
	require.NoError(t, run(t.Context(), options{sizes: []int{10}, runs: 1, docs: docs, binary: binary}))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "# Title\n"))
	assert.True(t, strings.HasSuffix(string(text), "foot\n"))
	assert.NotContains(t, string(text), "old")
	for _, p := range peers {
		assert.Contains(t, string(text), "| "+p.name+" |")
	}
	assert.Contains(t, string(text), "- met: unchanged costs no request")
	assert.Contains(t, string(text), "- met: 10 created by 10 writes")
	assert.Contains(t, string(text), "- met: one drifted among 10 is one write")
	picture, err := os.ReadFile(filepath.Join(docs, "benchmarks.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(picture), "operator-tools")
}
