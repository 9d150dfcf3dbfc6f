package builder_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// original is for writing testdata/api.txt anew: the directory of github.com/datainfrahq/operator-runtime v0.0.7, as
// printed by go mod download -json.
var original = flag.String("original", "", "write testdata/api.txt from the sources in this directory")

const (
	apiFile        = "testdata/api.txt"
	originalModule = "github.com/datainfrahq/operator-runtime"
	ourModule      = "github.com/armature-dev/armature/compat"
)

var packages = []string{"builder", "reconciler", "utils"}

// Every exported name of the original is here, with the same type.
func TestAPI(t *testing.T) {
	if *original != "" {
		lines := exported(t, *original, originalModule)
		require.NoError(t, os.WriteFile(apiFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	content, err := os.ReadFile(apiFile)
	require.NoError(t, err)
	ours := exported(t, "..", ourModule)
	for want := range strings.SplitSeq(strings.TrimSpace(string(content)), "\n") {
		if !slices.Contains(ours, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

// exported returns what the packages of a module export, a line each, sorted: name and type, no parameter names, with
// the packages of types in full and the module's own as ".".
func exported(t *testing.T, dir, module string) []string {
	t.Helper()
	var lines []string
	for _, pkg := range packages {
		fset := token.NewFileSet()
		files, err := filepath.Glob(filepath.Join(dir, pkg, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, fs.ErrNotExist)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			l := lister{pkg: pkg, fset: fset, imports: importsOf(parsed, module)}
			l.file(parsed)
			lines = append(lines, l.lines...)
		}
	}
	slices.Sort(lines)
	return lines
}

// importsOf returns the paths that a file imports by the names that it uses.
func importsOf(file *ast.File, module string) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = strings.Replace(p, module, ".", 1)
	}
	return imports
}

// lister writes what one file exports.
type lister struct {
	pkg     string
	fset    *token.FileSet
	imports map[string]string
	lines   []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, l.pkg+": "+fmt.Sprintf(format, args...))
}

func (l *lister) file(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			l.function(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				l.spec(d.Tok, spec)
			}
		}
	}
}

func (l *lister) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	if d.Recv == nil {
		l.add("func %s%s", d.Name, l.signature(d.Type))
		return
	}
	if receiver := l.typ(d.Recv.List[0].Type); ast.IsExported(strings.TrimPrefix(receiver, "*")) {
		l.add("method (%s) %s%s", receiver, d.Name, l.signature(d.Type))
	}
}

func (l *lister) spec(tok token.Token, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for i, name := range s.Names {
			if !name.IsExported() {
				continue
			}
			value := ""
			if tok == token.CONST && i < len(s.Values) {
				value = " = " + l.typ(s.Values[i])
			}
			l.add("%s %s %s%s", tok, name, l.typ(s.Type), value)
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		switch t := s.Type.(type) {
		case *ast.StructType:
			l.add("type %s struct", s.Name)
			l.fields("field "+s.Name.Name, t.Fields)
		case *ast.InterfaceType:
			l.add("type %s interface", s.Name)
			l.fields("interface method "+s.Name.Name, t.Methods)
		default:
			l.add("type %s %s", s.Name, l.typ(t))
		}
	}
}

func (l *lister) fields(what string, list *ast.FieldList) {
	for _, field := range list.List {
		typ := " " + l.typ(field.Type)
		if f, ok := field.Type.(*ast.FuncType); ok && strings.HasPrefix(what, "interface") {
			typ = l.signature(f)
		}
		if len(field.Names) == 0 {
			l.add("%s embeds%s", what, typ)
		}
		for _, name := range field.Names {
			if name.IsExported() {
				l.add("%s.%s%s", what, name, typ)
			}
		}
	}
}

// signature prints a function's type without parameter names.
func (l *lister) signature(f *ast.FuncType) string {
	s := "(" + strings.Join(l.types(f.Params), ", ") + ")"
	if f.Results != nil {
		s += " (" + strings.Join(l.types(f.Results), ", ") + ")"
	}
	return s
}

func (l *lister) types(list *ast.FieldList) []string {
	var types []string
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			types = append(types, l.typ(field.Type))
		}
	}
	return types
}

// typ prints a type with the packages in it in full.
func (l *lister) typ(expr ast.Expr) string {
	switch e := expr.(type) {
	case nil:
		return ""
	case *ast.SelectorExpr:
		return l.imports[e.X.(*ast.Ident).Name] + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + l.typ(e.X)
	case *ast.ArrayType:
		return "[]" + l.typ(e.Elt)
	case *ast.MapType:
		return "map[" + l.typ(e.Key) + "]" + l.typ(e.Value)
	case *ast.FuncType:
		return "func" + l.signature(e)
	case *ast.Ellipsis:
		return "..." + l.typ(e.Elt)
	default:
		var b strings.Builder
		_ = printer.Fprint(&b, l.fset, e)
		return b.String()
	}
}
