package plans

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/bench/internal/lab"
	"github.com/armature-dev/armature/internal/testsize"
)

// TestRun runs each benchmark once; in its small size without those of CEL expressions, each of which takes seconds.
func TestRun(t *testing.T) {
	docs := t.TempDir()
	file := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(file, []byte(lab.Begin(page)+"\nold\n"+lab.End(page)), 0o600))
	require.NoError(t, Main(t.Context(), []string{
		"-root", "../../..", "-docs", docs, "-benchtime", "1x", "-skip", testsize.Pick("Expressions", ""),
	}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "old")
	assert.Contains(t, string(text), "| Plan, layered by 50, 4000 | ")
	assert.Equal(t, testsize.Long(), strings.Contains(string(text), "| CompileExpressions | "))
	for _, s := range suites {
		assert.Contains(t, string(text), s.title)
	}
}

func TestTable(t *testing.T) {
	rows, err := table([]byte("goos: linux\nBenchmarkPlan/wide/10-2\t 100\t 1234567 ns/op\t 5 B/op\t 7 allocs/op\nBenchmarkPlan/chain-2\t 100\t 1500 ns/op\t 5 B/op\t 0 allocs/op\nPASS\n"))
	require.NoError(t, err)
	assert.Equal(t, "| | time | allocations |\n|---|---:|---:|\n| Plan, wide, 10 | 1.23 ms | 7 |\n| Plan, chain | 1.5 µs | 0 |\n", rows)
	_, err = table([]byte("PASS\n"))
	assert.ErrorContains(t, err, "no benchmarks")
}
