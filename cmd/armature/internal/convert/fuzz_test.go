package convert

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// What is converted from any system is manifests, which can be read again, or an error.
func FuzzConvert(f *testing.F) {
	examples, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, examples)
	for _, file := range examples {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := manifest.Parse("-", []byte(text))
		if err != nil {
			return
		}
		result, err := Documents(docs, "")
		if err != nil {
			return
		}
		for _, object := range result.Objects {
			rendered, err := yaml.Marshal(object)
			if err != nil {
				continue // a character that YAML doesn't have
			}
			_, err = manifest.Parse("-", rendered)
			assert.NoError(t, err, "%s", rendered)
		}
		for _, note := range result.Notes {
			assert.NotEmpty(t, note.String())
		}
	})
}
