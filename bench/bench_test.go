package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestRun lets every peer have its turn, in the smallest size.
func TestRun(t *testing.T) {
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		binary = "../bin/devcluster"
	}
	if _, err := os.Stat(binary); err != nil {
		t.Skipf("no devcluster: %v; make bin/devcluster", err)
	}
	ctrl.SetLogger(logr.Discard())
	docs := t.TempDir()
	page := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(page, []byte("# Title\n"+begin+"\nold\n"+end+"\nfoot\n"), 0o600))
	require.NoError(t, run(t.Context(), options{sizes: []int{4}, runs: 1, docs: docs, binary: binary}))

	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "# Title\n"))
	assert.True(t, strings.HasSuffix(string(text), "foot\n"))
	assert.NotContains(t, string(text), "old")
	for _, p := range peers {
		assert.Contains(t, string(text), "| "+p.name+" |")
	}
	assert.Contains(t, string(text), "- met: unchanged costs no request")
	assert.Contains(t, string(text), "- met: 4 created by 4 writes")
	assert.Contains(t, string(text), "- met: one drifted among 4 is one write")
	picture, err := os.ReadFile(filepath.Join(docs, "benchmarks.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(picture), "operator-tools")
}

func TestMedian(t *testing.T) {
	samples := []sample{
		{writes: 3, time: 9 * time.Second, allocs: 1, reached: true},
		{writes: 1, time: 1 * time.Second, allocs: 2, reached: true},
		{writes: 2, time: 2 * time.Second, allocs: 3},
	}
	assert.Equal(t, sample{writes: 2, time: 2 * time.Second, allocs: 2}, median(samples))
	assert.True(t, median(samples[:2]).reached)
	assert.Equal(t, sample{reached: true}, median(nil))
}

func TestPageWithoutMarkersIsLeftAlone(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte("# Title\n"), 0o600))
	assert.ErrorContains(t, results{}.writeTo(page, "v1", 1), "markers are missing")
}
