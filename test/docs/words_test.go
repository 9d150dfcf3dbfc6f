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

// heldPackages are the packages whose comments of exported names use the field's terms, as glob patterns.
var heldPackages = []string{
	"api/v1alpha1", "api/dsoi/v1beta1", "dsoi", "dsoi/scaling", "events", "store",
	"operators/daemonjob", "operators/fluxjob", "operators/jobflow", "operators/minicluster", "operators/replicajob",
	"operators/fluxjob/admission", "operators/fluxjob/internal/*", "operators/internal/*",
	"builder", "builder/*", "builder/internal/*", "builder/buildertest/*", "builder/buildertest/internal/*", "compat/*",
	"api/quantity",
}

// TestWordsOfPages: the manual uses the field's terms.
func TestWordsOfPages(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(root + page)
		require.NoError(t, err)
		for _, found := range privateWords(prose(string(text)), 1) {
			t.Errorf("%s:%d: %q: use %s", page, found.line, found.word, found.use)
		}
	}
}

// readFiles are files that users read, or edit, as glob patterns: manifests, with their comments, and the targets of make.
var readFiles = []string{
	"charts/armature/values.yaml", "charts/armature/templates/NOTES.txt", "charts/armature/monitoring/alerts.yaml",
	"config/rbac/*.yaml", "config/manager/*.yaml", "examples/*/*.yaml", "Makefile",
}

// TestWordsOfFiles: so do the files that users read beside the manual.
func TestWordsOfFiles(t *testing.T) {
	for _, pattern := range readFiles {
		paths, err := filepath.Glob(root + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, found := range privateWords(string(text), 1) {
				t.Errorf("%s:%d: %q: use %s", strings.TrimPrefix(path, root), found.line, found.word, found.use)
			}
		}
	}
}

// TestWordsOfComments: so do the comments of exported names, of which API documentation and CRDs are made.
func TestWordsOfComments(t *testing.T) {
	for _, dir := range heldPackages {
		checked := 0
		for _, path := range sources(t, dir) {
			for _, comment := range exportedComments(t, path) {
				checked++
				for _, found := range privateWords(comment.text, comment.line) {
					t.Errorf("%s:%d: %q: use %s", strings.TrimPrefix(path, root), found.line, found.word, found.use)
				}
			}
		}
		assert.Positive(t, checked, "%s has no comments of exported names", dir)
	}
}

// spokenPackages are the packages of the command line: users read their texts, so all comments and string literals are checked.
var spokenPackages = []string{"cmd/armature", "cmd/armature/internal/*"}

// TestWordsOfCommands: so do the commands, in what they print and in all comments.
func TestWordsOfCommands(t *testing.T) {
	for _, dir := range spokenPackages {
		checked := 0
		for _, path := range sources(t, dir) {
			for _, text := range append(allComments(t, path), literals(t, path)...) {
				checked++
				for _, found := range privateWords(text.text, text.line) {
					t.Errorf("%s:%d: %q: use %s", strings.TrimPrefix(path, root), found.line, found.word, found.use)
				}
			}
		}
		assert.Positive(t, checked, "%s has no comments", dir)
	}
}

// sources returns the written Go files of packages, without tests.
func sources(t *testing.T, packages string) []string {
	t.Helper()
	files, err := filepath.Glob(root + packages + "/*.go")
	require.NoError(t, err)
	return slices.DeleteFunc(files, func(path string) bool {
		return strings.HasSuffix(path, "_test.go") || strings.HasPrefix(filepath.Base(path), "zz_generated")
	})
}

// comment is a text that begins at a line of a file.
type comment struct {
	line int
	text string
}

// marker is a part of a comment that isn't prose: a line for a generator, an indented line, a quote, a doc link, and the name with which
// the comment of an exported name begins.
var marker = regexp.MustCompile("(?m)^//( ?\\+|go:|\t| {2,}).*$|`[^`\n]*`|\\[[\\w.]+\\][\\w.]*|\\A// [A-Z]\\w*")

func parse(t *testing.T, path string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return fset, file
}

func commentOf(fset *token.FileSet, group *ast.CommentGroup) comment {
	var lines []string
	for _, c := range group.List {
		lines = append(lines, c.Text)
	}
	text := marker.ReplaceAllStringFunc(strings.Join(lines, "\n"), blank)
	return comment{fset.Position(group.Pos()).Line, strings.ReplaceAll(text, "\n//", "\n  ")}
}

// allComments returns all comments of a file.
func allComments(t *testing.T, path string) (all []comment) {
	t.Helper()
	fset, file := parse(t, path)
	for _, group := range file.Comments {
		all = append(all, commentOf(fset, group))
	}
	return all
}

// literals returns the string literals of a file that are prose: those with a space. Names, such as those of fields, have none.
func literals(t *testing.T, path string) (all []comment) {
	t.Helper()
	fset, file := parse(t, path)
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || !strings.Contains(literal.Value, " ") {
			return true
		}
		all = append(all, comment{fset.Position(literal.Pos()).Line, literal.Value})
		return true
	})
	return all
}

// exportedComments returns the comments of a file's package clause and of its exported names, fields and methods.
func exportedComments(t *testing.T, path string) (all []comment) {
	t.Helper()
	fset, file := parse(t, path)
	add := func(groups ...*ast.CommentGroup) {
		for _, group := range groups {
			if group != nil {
				all = append(all, commentOf(fset, group))
			}
		}
	}
	add(file.Doc)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.IsExported() {
				add(n.Doc)
			}
			return false
		case *ast.GenDecl:
			if slices.ContainsFunc(n.Specs, isExported) {
				add(n.Doc)
			}
		case *ast.TypeSpec:
			if !n.Name.IsExported() {
				return false
			}
			add(n.Doc, n.Comment)
		case *ast.ValueSpec:
			if n.Names[0].IsExported() {
				add(n.Doc, n.Comment)
			}
		case *ast.Field:
			if len(n.Names) == 0 || n.Names[0].IsExported() {
				add(n.Doc, n.Comment)
			}
		}
		return true
	})
	return all
}

func isExported(spec ast.Spec) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.IsExported()
	case *ast.ValueSpec:
		return slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported)
	}
	return false
}

func TestPrivateWords(t *testing.T) {
	page := prose("Nothing is mended `anew`.\n\n    told in code\n\n```\nin vain\n```\nAn object is as\nwanted.\n[a](mend.md)\n")
	assert.Equal(t, []private{{8, "as wanted", "desired, up to date"}, {1, "mended", "fix"}}, privateWords(page, 1))
}
