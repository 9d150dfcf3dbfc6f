package scaffold

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// checkNames returns an error if the files of a kind declare a name that their package has already: a kind BackupSpec has the name of the
// spec's type of a kind Backup.
func (k Kind) checkNames(existing, files []File) error {
	declaredIn := map[declaration]string{} // the path of a file
	for i, f := range slices.Concat(existing, files) {
		all, err := declarationsOf(f)
		if err != nil {
			return err
		}
		for _, d := range all {
			// Existing files with build constraints may declare a name several times.
			if other, found := declaredIn[d]; found && i >= len(existing) {
				return fmt.Errorf("--kind: %q: %s would declare %s, which %s declares already; choose another name", k.Kind, f.Path, d.name, other)
			}
			declaredIn[d] = f.Path
		}
	}
	return nil
}

// beside returns the Go files of a project's directories that will have some files.
func beside(dir string, files []File) ([]File, error) {
	var all []File
	known := map[string]bool{}
	for _, f := range files {
		in := path.Dir(f.Path)
		if !strings.HasSuffix(f.Path, ".go") || known[in] {
			continue
		}
		known[in] = true
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(in), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range paths {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, File{path.Join(in, filepath.Base(file)), text})
		}
	}
	return all, nil
}

// declaration is a name that a package declares. A directory may have two packages, one of them of tests.
type declaration struct{ dir, pkg, name string }

// declarationsOf returns what a Go file declares in its package. Another file has none.
func declarationsOf(f File) ([]declaration, error) {
	if !strings.HasSuffix(f.Path, ".go") {
		return nil, nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []declaration
	add := func(id *ast.Ident) {
		if id.Name != "_" && id.Name != "init" { // a package may have several of them
			all = append(all, declaration{path.Dir(f.Path), parsed.Name.Name, id.Name})
		}
	}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id)
					}
				}
			}
		}
	}
	return all, nil
}
