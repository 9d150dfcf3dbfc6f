package analyzer_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/armature-dev/armature/tools/purity/analyzer"
)

// The expectations are comments in testdata: each line that says "want" is reported, and no other.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), analyzer.Analyzer, "example.com/plans", "github.com/armature-dev/armature/builder")
}
