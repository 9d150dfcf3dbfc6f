package jobs

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/bench/internal/lab"
	"github.com/armature-dev/armature/internal/testsize"
)

// TestRun runs each scenario in a small size.
func TestRun(t *testing.T) {
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = "../../../bin/devcluster"
	}
	require.FileExists(t, binary, "make bin/devcluster")
	ctrl.SetLogger(logr.Discard())
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(file, []byte(lab.Begin(page)+"\nold\n"+lab.End(page)), 0o600))
	require.NoError(t, Main(t.Context(), []string{
		"-devcluster", binary, "-crds", "../../../config/crd", "-docs", docs,
		"-runs", "1", "-jobs", "8", "-nodes", "5", "-chain", testsize.Pick("2", "3"), "-big", "24", "-idle", "100ms",
		"-clear=" + strconv.FormatBool(testsize.Long()), // it takes longer than what is measured
	}))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "old")
	for _, what := range []string{
		"JobFlow of 8 Jobs", "DaemonJob on 5 nodes", "chains at once", "A flow of 24 nodes",
		"- met: one create a Job: 8 of 8", "- met: no request when idle",
	} {
		assert.Contains(t, string(text), what)
	}
}
