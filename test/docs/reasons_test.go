package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository's, from here.
const root = "../../"

// withReasons are the packages whose constants Reason... are reasons of conditions and events.
var withReasons = []string{"api/v1alpha1", "builder", "events", "dsoi", "dsoi/scaling"}

// reasons reads the constants from the sources: their names by their values.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dir := range withReasons {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok {
					return true
				}
				for i, name := range spec.Names {
					if !strings.HasPrefix(name.Name, "Reason") || i >= len(spec.Values) {
						continue
					}
					if literal, ok := spec.Values[i].(*ast.BasicLit); ok { // else it is another's, which is read there
						value, err := strconv.Unquote(literal.Value)
						require.NoError(t, err)
						found[value] = name.Name
					}
				}
				return true
			})
		}
	}
	return found
}

var quoted = regexp.MustCompile("`([A-Z][A-Za-z]+)`")

// TestEveryReason: docs/troubleshooting.md has each reason, once, and none that isn't.
func TestEveryReason(t *testing.T) {
	want := reasons(t)
	require.Greater(t, len(want), 60)
	text, err := os.ReadFile(root + "docs/troubleshooting.md")
	require.NoError(t, err)
	listed := map[string]int{}
	prose := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## ") {
			prose = strings.Contains(line, "Healthy") || strings.Contains(line, "Only in events")
		}
		switch {
		case prose:
			for _, found := range quoted.FindAllStringSubmatch(line, -1) {
				listed[found[1]]++
			}
		case strings.HasPrefix(line, "| `"):
			listed[quoted.FindStringSubmatch(line)[1]]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(want)) {
		assert.Equal(t, 1, listed[reason], "docs/troubleshooting.md and the reason %s", reason)
	}
	for reason := range listed {
		assert.Contains(t, want, reason, "docs/troubleshooting.md has a reason that no constant has")
	}
}

// TestEveryReasonIsUsed: a reason that no code sets would be a promise.
func TestEveryReasonIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{"builder", "cmd", "compat", "dsoi", "events", "internal", "operators"} {
		require.NoError(t, filepath.WalkDir(root+dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			declared := map[*ast.Ident]bool{}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for _, name := range n.Names {
						declared[name] = true
					}
				case *ast.Ident:
					used[n.Name] = used[n.Name] || !declared[n]
				}
				return true
			})
			return nil
		}))
	}
	for value, name := range reasons(t) {
		assert.True(t, used[name], "no code uses the reason %s", value)
	}
}
