package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// orderOf tells whether the order in which a loop ranges over a map shows afterwards, and how. A loop that fills a map, counts, or
// looks for the least or the greatest is the same in any order.
func orderOf(info *types.Info, loop *ast.RangeStmt, block *ast.BlockStmt) (way string, ok bool) {
	if !unordered(info, loop.X) {
		return "", false
	}
	entry := map[types.Object]bool{}
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			if o := objectOf(info, id); o != nil {
				entry[o] = true
			}
		}
	}
	if len(entry) == 0 {
		return "", false
	}
	outside := func(e ast.Expr) types.Object {
		o := objectOf(info, root(e))
		if o == nil || (loop.Pos() <= o.Pos() && o.Pos() < loop.End()) {
			return nil
		}
		return o
	}
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				o := outside(left)
				if o == nil || len(n.Rhs) <= i {
					continue
				}
				if n.Tok == token.ADD_ASSIGN && isString(info.TypeOf(left)) {
					way = "makes a text in the order of a map"
				}
				if call, isCall := n.Rhs[i].(*ast.CallExpr); isCall && isAppend(info, call) && !indexedBy(info, left, entry) &&
					!sortedAfter(info, block, loop.End(), o) {
					way = "makes a list in the order of a map"
				}
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if mentions(info, r, entry) {
					way = "returns whichever entry of a map comes first"
				}
			}
		case *ast.CallExpr:
			if sel, isSel := n.Fun.(*ast.SelectorExpr); isSel && strings.HasPrefix(sel.Sel.Name, "Write") && outside(sel.X) != nil {
				for _, arg := range n.Args {
					if mentions(info, arg, entry) {
						way = "writes in the order of a map"
					}
				}
			}
		}
		return way == ""
	})
	return way, way != ""
}

// collectsUnsorted tells whether a call is slices.Collect of a map whose result nobody sorts.
func collectsUnsorted(info *types.Info, call *ast.CallExpr, block *ast.BlockStmt) bool {
	if !isFunc(info, call.Fun, "slices", "Collect") || len(call.Args) != 1 || !unordered(info, call.Args[0]) {
		return false
	}
	sorted := false
	ast.Inspect(block, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Rhs[0] == call {
			if o := objectOf(info, root(a.Lhs[0])); o != nil {
				sorted = sortedAfter(info, block, call.End(), o)
			}
		}
		return !sorted
	})
	return !sorted
}

// unordered tells whether an expression is a map, or an iterator over one by package maps.
func unordered(info *types.Info, e ast.Expr) bool {
	if t := info.TypeOf(e); t != nil {
		if _, ok := t.Underlying().(*types.Map); ok {
			return true
		}
	}
	call, ok := e.(*ast.CallExpr)
	return ok && (isFunc(info, call.Fun, "maps", "Keys") || isFunc(info, call.Fun, "maps", "Values") || isFunc(info, call.Fun, "maps", "All"))
}

// sortedAfter tells whether a later call with Sort in its name takes the variable.
func sortedAfter(info *types.Info, block *ast.BlockStmt, after token.Pos, variable types.Object) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < after {
			return !found
		}
		f := calledName(call.Fun)
		pkg := ""
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				pkg = id.Name
			}
		}
		if strings.Contains(strings.ToLower(f), "sort") || pkg == "sort" {
			for _, arg := range call.Args {
				found = found || mentions(info, arg, map[types.Object]bool{variable: true})
			}
		}
		return !found
	})
	return found
}

// indexedBy tells whether a place is one of its own for each entry: byName[name].
func indexedBy(info *types.Info, place ast.Expr, entry map[types.Object]bool) bool {
	index, ok := place.(*ast.IndexExpr)
	return ok && mentions(info, index.Index, entry)
}

func mentions(info *types.Info, n ast.Node, objects map[types.Object]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && objects[info.Uses[id]] {
			found = true
		}
		return !found
	})
	return found
}

// root is the variable that an expression begins with: x of x.y[z].
func root(e ast.Expr) *ast.Ident {
	for {
		switch t := e.(type) {
		case *ast.Ident:
			return t
		case *ast.SelectorExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.UnaryExpr:
			e = t.X
		default:
			return nil
		}
	}
}

func objectOf(info *types.Info, id *ast.Ident) types.Object {
	if id == nil {
		return nil
	}
	return info.ObjectOf(id)
}

func isAppend(info *types.Info, call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == "append"
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isFunc(info *types.Info, fun ast.Expr, pkg, name string) bool {
	f := called(info, fun)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == pkg && f.Name() == name
}

// called returns the function of a package that a call names.
func called(info *types.Info, fun ast.Expr) *types.Func {
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	f, _ := info.Uses[sel.Sel].(*types.Func)
	return f
}

func calledName(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return calledName(f.X)
	}
	return ""
}
