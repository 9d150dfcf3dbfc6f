package analyzer

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// orderOf tells whether the order in which a loop ranges over a map shows afterwards, and how. A loop that fills a map, counts, or
// looks for the least or the greatest is the same in any order.
func orderOf(info *types.Info, loop *ast.RangeStmt, block ast.Node) (way string, ok bool) {
	if !unordered(info, loop.X) {
		return "", false
	}
	l := mapLoop{info: info, loop: loop, block: block, entry: map[types.Object]bool{}}
	l.derive(loop.Key, loop.Value)
	if len(l.entry) == 0 {
		return "", false
	}
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			way = cmp.Or(way, l.assignments(n.List, n == loop.Body))
		case *ast.CaseClause:
			way = cmp.Or(way, l.assignments(n.Body, false))
		case *ast.RangeStmt:
			if l.mentions(n.X) {
				l.derive(n.Key, n.Value)
			}
		case *ast.ReturnStmt:
			if slices.ContainsFunc(n.Results, l.mentions) {
				way = "returns whichever entry of a map comes first"
			}
		case *ast.CallExpr:
			if l.isWrite(n) {
				way = "writes in the order of a map"
			}
		}
		return way == ""
	})
	return way, way != ""
}

// mapLoop is a loop over a map.
type mapLoop struct {
	info  *types.Info
	loop  *ast.RangeStmt
	block ast.Node              // of the function that has the loop
	entry map[types.Object]bool // the variables that hold an entry, or what was made of it
}

// derive notes that variables of the loop hold an entry.
func (l mapLoop) derive(variables ...ast.Expr) {
	for _, e := range variables {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		if o := objectOf(l.info, id); o != nil && o.Type() != types.Typ[types.Bool] {
			l.entry[o] = true
		}
	}
}

func (l mapLoop) mentions(e ast.Expr) bool { return mentions(l.info, e, l.entry) }

// outside returns the variable that a place is in, if it is declared outside of the loop.
func (l mapLoop) outside(place ast.Expr) types.Object {
	o := objectOf(l.info, root(place))
	if o == nil || l.loop.Pos() <= o.Pos() && o.Pos() < l.loop.End() {
		return nil
	}
	return o
}

// isWrite tells whether a call writes an entry to something outside of the loop.
func (l mapLoop) isWrite(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if f := called(l.info, sel); f != nil && f.Pkg() != nil && f.Pkg().Path() == "fmt" && strings.HasPrefix(f.Name(), "Fprint") {
		return l.outside(call.Args[0]) != nil && slices.ContainsFunc(call.Args[1:], l.mentions)
	}
	return strings.HasPrefix(sel.Sel.Name, "Write") && l.outside(sel.X) != nil && slices.ContainsFunc(call.Args, l.mentions)
}

// assignments tells how the order shows in what the statements of a block assign. always says that they run for each entry.
func (l mapLoop) assignments(block []ast.Stmt, always bool) (way string) {
	for _, statement := range block {
		n, ok := statement.(*ast.AssignStmt)
		if !ok {
			continue
		}
		for i, left := range n.Lhs {
			right := n.Rhs[min(i, len(n.Rhs)-1)]
			if n.Tok == token.DEFINE && l.mentions(right) {
				l.derive(left)
			}
			if l.outside(left) == nil {
				continue
			}
			way = cmp.Or(way, l.assignment(n.Tok, left, right))
			if n.Tok != token.ASSIGN || way != "" || !l.mentions(right) || l.isKept(left, right) {
				continue
			}
			if endsLoop(block) {
				way = "keeps whichever entry of a map comes first"
			} else if always {
				way = "keeps whichever entry of a map comes last"
			}
		}
	}
	return way
}

// assignment tells how the order shows in a list, a text, or an error that an assignment adds to.
func (l mapLoop) assignment(operator token.Token, left, right ast.Expr) string {
	to := l.outside(left)
	call, isCall := right.(*ast.CallExpr)
	sum, isSum := right.(*ast.BinaryExpr)
	isSum = isSum && sum.Op == token.ADD && mentions(l.info, right, map[types.Object]bool{to: true})
	switch {
	case isString(l.info.TypeOf(left)) && (operator == token.ADD_ASSIGN || isSum):
		return "makes a text in the order of a map"
	case isCall && isFunc(l.info, call.Fun, "errors", "Join") && l.mentions(right) && l.outside(call.Args[0]) == to:
		return "joins errors in the order of a map"
	case isCall && isBuiltin(l.info, call, "append") && !indexedBy(l.info, left, l.entry), isElement(l.info, left) && l.mentions(right) &&
		!indexedBy(l.info, left, l.entry):
		if !sortedAfter(l.info, l.block, l.loop.End(), to) {
			return "makes a list in the order of a map"
		}
	}
	return ""
}

// isKept tells whether an assignment keeps what other entries have assigned: in a place for each entry, in a list that is looked at
// elsewhere, or as a part of the new value.
func (l mapLoop) isKept(left, right ast.Expr) bool {
	return isElement(l.info, left) || indexedBy(l.info, left, l.entry) ||
		mentions(l.info, right, map[types.Object]bool{l.outside(left): true})
}

// endsLoop tells whether a block ends with a break.
func endsLoop(block []ast.Stmt) bool {
	end, ok := block[len(block)-1].(*ast.BranchStmt)
	return ok && end.Tok == token.BREAK
}

// isElement tells whether a place is an element of a list: list[i].
func isElement(info *types.Info, place ast.Expr) bool {
	index, ok := place.(*ast.IndexExpr)
	if !ok {
		return false
	}
	switch info.TypeOf(index.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Pointer:
		return true
	}
	return false
}

// collectsUnsorted tells whether a call makes a list of a map that nobody sorts.
func collectsUnsorted(info *types.Info, call *ast.CallExpr, block ast.Node) bool {
	f := called(info, call.Fun)
	if f == nil || f.Pkg() == nil {
		return false
	}
	switch path, name := f.Pkg().Path(), f.Name(); {
	case path == "slices" && (name == "Collect" || name == "AppendSeq") && unordered(info, call.Args[len(call.Args)-1]):
	case path == "golang.org/x/exp/maps" && (name == "Keys" || name == "Values"):
	case path == "k8s.io/apimachinery/pkg/util/sets" && name == "UnsortedList":
	default:
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
	if t := info.TypeOf(e); t != nil && isMap(t) {
		return true
	}
	call, ok := e.(*ast.CallExpr)
	return ok && (isFunc(info, call.Fun, "maps", "Keys") || isFunc(info, call.Fun, "maps", "Values") || isFunc(info, call.Fun, "maps", "All"))
}

// isMap tells whether a type is a map, or a type parameter for maps.
func isMap(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		_, ok := t.Underlying().(*types.Map)
		return ok
	}
	for e := range p.Constraint().Underlying().(*types.Interface).EmbeddedTypes() {
		union, ok := e.(*types.Union)
		if ok && union.Len() > 0 && isMap(union.Term(0).Type()) {
			return true
		}
	}
	return false
}

// sortedAfter tells whether a later call with Sort in its name takes the variable.
func sortedAfter(info *types.Info, block ast.Node, after token.Pos, variable types.Object) bool {
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

// indexedBy tells whether a place is one of its own for each entry, or in it: byName[name], byName[name].size.
func indexedBy(info *types.Info, place ast.Expr, entry map[types.Object]bool) bool {
	for place != nil {
		index, ok := place.(*ast.IndexExpr)
		if ok && mentions(info, index.Index, entry) {
			return true
		}
		place = within(place)
	}
	return false
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
	for e != nil {
		if id, ok := e.(*ast.Ident); ok {
			return id
		}
		e = within(e)
	}
	return nil
}

// within is what a place is a part of: x.y of x.y[z]; nil for none.
func within(place ast.Expr) ast.Expr {
	switch t := place.(type) {
	case *ast.SelectorExpr:
		return t.X
	case *ast.IndexExpr:
		return t.X
	case *ast.StarExpr:
		return t.X
	case *ast.ParenExpr:
		return t.X
	case *ast.UnaryExpr:
		return t.X
	}
	return nil
}

func objectOf(info *types.Info, id *ast.Ident) types.Object {
	if id == nil {
		return nil
	}
	return info.ObjectOf(id)
}

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
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
