package docs

import (
	"go/ast"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTheFaceOfBuilder: a reader can learn the package, because it exports at most 130 names, with methods and fields.
func TestTheFaceOfBuilder(t *testing.T) {
	var exported []string
	for _, path := range sources(t, "builder") {
		_, file := parse(t, path)
		for _, decl := range file.Decls {
			exported = append(exported, exportedNames(decl)...)
		}
	}
	assert.Contains(t, exported, "Plan.Children")
	assert.LessOrEqual(t, len(exported), 130, "%q", exported)
}

// exportedNames are the exported names of a declaration: those of types and functions, and Type.Name of methods, fields and the methods
// of interfaces.
func exportedNames(decl ast.Decl) []string {
	var names []string
	add := func(prefix string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, prefix+id.Name)
			}
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if of := receiver(d); of == "" || token.IsExported(of) {
			add(of+".", d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				add("", s.Names...)
			case *ast.TypeSpec:
				add("", s.Name)
				if s.Name.IsExported() {
					for _, member := range members(s.Type) {
						add(s.Name.Name+".", member.Names...)
					}
				}
			}
		}
	}
	return names
}

// receiver is the name of a method's type; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func members(of ast.Expr) []*ast.Field {
	switch t := of.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	default:
		return nil
	}
}
