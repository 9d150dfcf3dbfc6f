package replicas

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/bench/internal/lab"
	"github.com/armature-dev/armature/internal/testsize"
)

// TestRun runs all of it in a small size.
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
		"-devcluster", binary, "-crds", "../../../config/crd", "-docs", docs, "-runs", "1", "-pods", "5", "-warm=false", "-nodes", "3", "-big", "20", "-idle", "100ms", "-settle", "1s",
		"-clear=" + strconv.FormatBool(testsize.Long()), // it takes longer than what is measured
	}))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "old")
	for _, what := range []string{
		"### 5 pods", "| Armature |", "| kubeflow/common |", "### A job of 20 pods",
		"- met: 5 pods: one create a pod and one for the Service: 6", "- met: 20 pods: nothing is read",
	} {
		assert.Contains(t, string(text), what)
	}
}

func TestMedianAndRatio(t *testing.T) {
	r := results{of: map[peer]map[int][]outcome{
		bare:     {1: {{succeeded: 2 * time.Second}, {succeeded: 1 * time.Second}, {succeeded: 9 * time.Second}}},
		armature: {1: {{succeeded: 3 * time.Second}}},
	}}
	assert.Equal(t, 2*time.Second, median(r.of[bare][1], succeeded))
	assert.InDelta(t, 1.5, r.ratio(armature, 1, succeeded), 0.001)
	assert.Zero(t, r.ratio(armature, 2, succeeded))
	assert.Zero(t, median(nil, created))
}

func TestRequestsBySort(t *testing.T) {
	requests := map[string]int{"GET pods": 2, "POST pods": 3, "PATCH replicajobs/status": 4}
	assert.Equal(t, 2, reads(requests))
	assert.Equal(t, 9, total(requests))
	assert.Equal(t, 4, statusWrites(outcome{requests: requests}))
	assert.Equal(t, "2 GET pods, 4 PATCH replicajobs/status, 3 POST pods", list(requests))
}
