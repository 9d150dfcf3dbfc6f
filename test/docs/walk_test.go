package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxReconcile bounds the function that is the table of contents of a pass, in lines.
const maxReconcile = 150

// maxPassFiles bounds the files that a pass without features is read in.
const maxPassFiles = 8

var (
	walkStep    = regexp.MustCompile("(?m)^\\| [^|]+ \\| `(\\w+)` \\| (?:`([\\w/]+\\.go)` )?\\|$")
	walkFeature = regexp.MustCompile("(?m)^\\| [^|]+ \\| ((?:`\\w+`(?:, )?)+) \\| ((?:`\\w+`(?:, )?)+) \\|$")
	word        = regexp.MustCompile(`\w+`)
)

// sectionOf returns a page's text under a heading.
func sectionOf(t *testing.T, page, heading string) string {
	text, err := os.ReadFile(root + page)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n## "+heading+"\n")
	require.True(t, found, "%s has no section %q", page, heading)
	inside, _, _ := strings.Cut(after, "\n## ")
	return inside
}

// function is a function or method of builder, and what its body names.
type function struct {
	file  string
	lines int
	names []string
}

// functionsIn returns the functions of a package's files by name; several types may have a method of one name.
func functionsIn(t *testing.T, dir string) map[string][]function {
	files, err := filepath.Glob(root + dir + "/*.go")
	require.NoError(t, err)
	all := map[string][]function{}
	fset := token.NewFileSet()
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			f := function{file: dir + "/" + filepath.Base(path)}
			f.lines = fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					f.names = append(f.names, id.Name)
				}
				return true
			})
			all[fn.Name.Name] = append(all[fn.Name.Name], f)
		}
	}
	return all
}

// TestWalk: each function of the walk through a pass is in the file named, and a function further up calls it.
func TestWalk(t *testing.T) {
	text := sectionOf(t, "docs/concepts.md", "One pass in the code")
	steps := walkStep.FindAllStringSubmatch(text, -1)
	require.Greater(t, len(steps), 15)
	in := map[string]map[string][]function{}
	in["builder"] = functionsIn(t, "builder")
	for _, room := range []string{"apply", "prune", "sources"} {
		in["builder/internal/"+room] = functionsIn(t, "builder/internal/"+room)
	}
	var read []string // what the functions so far call
	files := map[string]bool{}
	for i, step := range steps {
		name, file, dir := step[1], step[2], "builder"
		if file != "" {
			dir = filepath.Dir(file)
		}
		here := slices.DeleteFunc(slices.Clone(in[dir][name]), func(f function) bool { return file != "" && f.file != file })
		require.NotEmpty(t, here, "no function %s in %s", name, file)
		if i > 0 {
			assert.Contains(t, read, name, "no function of the walk before %s calls it", name)
		}
		for _, f := range here {
			read = append(read, f.names...)
		}
		if file != "" {
			files[file] = true
		}
	}
	assert.LessOrEqual(t, len(files), maxPassFiles, "a pass without features is read in %v", files)
	for _, f := range in["builder"]["Reconcile"] {
		assert.LessOrEqual(t, f.lines, maxReconcile, "Reconcile in %s", f.file)
	}
}

// TestFeaturesAreEntered: each feature of the walk is entered in the functions named.
func TestFeaturesAreEntered(t *testing.T) {
	features := walkFeature.FindAllStringSubmatch(sectionOf(t, "docs/concepts.md", "One pass in the code"), -1)
	require.Greater(t, len(features), 5)
	functions := functionsIn(t, "builder")
	for _, room := range []string{"apply", "former", "marks", "phases", "prune", "sources", "status"} {
		for name, all := range functionsIn(t, "builder/internal/"+room) {
			functions[name] = append(functions[name], all...)
		}
	}
	for _, feature := range features {
		var called []string
		for _, name := range word.FindAllString(feature[1], -1) {
			require.NotEmpty(t, functions[name], "no function %s in builder or its rooms", name)
			for _, f := range functions[name] {
				called = append(called, f.names...)
			}
		}
		for _, name := range word.FindAllString(feature[2], -1) {
			assert.NotEmpty(t, functions[name], "no function %s in builder", name)
			assert.Contains(t, called, name, feature[0])
		}
	}
}
