package analyzer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/armature-dev/armature/tools/purity/analyzer"
)

// The expectations are comments in testdata: each line that says "want" is reported, and no other.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), analyzer.Analyzer, "example.com/plans", "example.com/hidden", "example.com/order",
		"example.com/lasting", "example.com/counters",
		"github.com/armature-dev/armature/builder")
}

// The manual shows what the tool says of the package backup.
func TestOutputInTheManual(t *testing.T) {
	var lines []string
	for _, result := range analysistest.Run(t, analysistest.TestData(), analyzer.Analyzer, "example.com/backup") {
		for _, d := range result.Diagnostics {
			at := result.Pass.Fset.Position(d.Pos)
			lines = append(lines, fmt.Sprintf("backup/%s:%d:%d: %s", filepath.Base(at.Filename), at.Line, at.Column, d.Message))
		}
	}
	page, err := os.ReadFile("../../../docs/recipes.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "<!-- message: purity -->\n```\n$ go vet -vettool=\"$(go tool -n purity)\" ./...\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "\n```")
	assert.Equal(t, block, strings.Join(lines, "\n"))
}
