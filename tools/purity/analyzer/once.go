package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// runsOnce tells of the places of a block whether they run once in the process, so that what they write is a constant: the function of a
// sync.Once, and the calls in the value of a variable, but not in its function literals. called says that the place runs with the block.
func (r reader) runsOnce(block ast.Node) func(pos token.Pos, called bool) bool {
	var once, later []ast.Node
	_, value := block.(ast.Expr)
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			later = append(later, n)
		case *ast.CallExpr:
			if r.isOnce(n, value) {
				once = append(once, n.Args[0])
			}
		}
		return true
	})
	return func(pos token.Pos, called bool) bool {
		in := func(n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }
		return slices.ContainsFunc(once, in) || value && called && !slices.ContainsFunc(later, in)
	}
}

// isOnce tells whether a call gives a function to a sync.Once that isn't the function's own, or makes such a function for a variable. The
// function may use only variables of packages and what has the Once: else it keeps what the first pass gave it.
func (r reader) isOnce(call *ast.CallExpr, value bool) bool {
	f := function(r.TypesInfo, call.Fun)
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "sync" || len(call.Args) != 1 {
		return false
	}
	var holder *types.Var
	switch f.Name() {
	case "OnceFunc", "OnceValue", "OnceValues":
		if !value {
			return false
		}
	case "Do":
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if holder, _ = r.rootOf(sel.X); holder == nil || !isGlobal(holder) && r.params[holder] == nil {
			return false
		}
	default:
		return false
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.FuncLit)
	return !ok || !slices.ContainsFunc(r.captured(lit), func(v *types.Var) bool { return v != holder })
}

// captured returns the variables of functions that a literal uses and doesn't declare.
func (r reader) captured(lit *ast.FuncLit) []*types.Var {
	var all []*types.Var
	ast.Inspect(lit, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := r.TypesInfo.Uses[id].(*types.Var); ok && r.isCaptured(v, lit) {
				all = append(all, v)
			}
		}
		return true
	})
	return all
}

func (r reader) isCaptured(v *types.Var, lit *ast.FuncLit) bool {
	return !v.IsField() && !isGlobal(v) && (v.Pos() < lit.Pos() || lit.End() <= v.Pos())
}
