package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// Whatever is in a file, it can't be read, or each finding says where it is.
func FuzzLint(f *testing.F) {
	examples, err := filepath.Glob("../../../../examples/*.yaml")
	require.NoError(f, err)
	deeper, err := filepath.Glob("../../../../examples/*/*.yaml")
	require.NoError(f, err)
	examples = append(examples, deeper...)
	require.NotEmpty(f, examples)
	for _, file := range examples {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("a: &a [x]\nb: [*a, *a]\n---\n- 1\n---\n{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, spec: {flows: [null, 1, {name: [a]}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := manifest.Parse("f.yaml", []byte(text))
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		report, err := Documents(docs)
		require.NoError(t, err)
		for _, finding := range report.Findings {
			assert.Positive(t, finding.Line, finding.String())
			assert.NotEmpty(t, finding.Message)
		}
	})
}
