package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPackages: each package of the library and of the operators has a doc.go with its comment, so that a reader knows where to begin.
// Each package behind builder says there what always holds.
func TestPackages(t *testing.T) {
	found := 0
	for _, tree := range []string{"api", "builder", "compat", "dsoi", "events", "internal", "operators", "store"} {
		err := filepath.WalkDir(root+tree, func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" {
				return fs.SkipDir
			}
			if !isPackage(t, dir) {
				return nil
			}
			found++
			name := strings.TrimPrefix(filepath.ToSlash(dir), root)
			text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
			if !assert.NoError(t, err, "%s: want a doc.go", name) {
				return nil
			}
			assert.Contains(t, string(text), "// Package "+path.Base(name)+" ", "%s/doc.go", name)
			if strings.HasPrefix(name, "builder/internal/") {
				assert.Regexp(t, "(?m)^//\n// Invariants?[:,]", string(text), "%s/doc.go: want a paragraph that begins with Invariant", name)
			}
			return nil
		})
		require.NoError(t, err)
	}
	assert.Greater(t, found, 80)
}

// isPackage reports whether a directory has Go files besides tests.
func isPackage(t *testing.T, dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			return true
		}
	}
	return false
}
