package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

const adviceLasting = "what a Plan must know later belongs in the owner's status, or in an object that the View has"

// receiver is the number of a method's receiver among its parameters.
const receiver = -1

// site is a place that a function may write, itself or by a function that it calls or mentions.
type site struct {
	pos    token.Pos
	place  ast.Expr
	derefs int         // pointers, maps and lists between the place and what is written: 1 for what an argument points to
	by     *types.Func // what may write it; nil for the function itself
	param  int         // the parameter of by that has the place
	once   bool        // it runs once in the process: what it writes is constant
}

// sites returns what a block may write.
func (r reader) sites(block ast.Node) []site {
	var all []site
	once := r.runsOnce(block)
	add := func(place ast.Expr, derefs int, by *types.Func, param int, called bool) {
		if place != nil && !r.excused[lineOf(r.Fset, place.Pos())] {
			all = append(all, site{place.Pos(), place, derefs, by, param, once(place.Pos(), called)})
		}
	}
	direct := func(place ast.Expr, derefs int) { add(place, derefs, nil, 0, true) }
	called := map[ast.Expr]bool{}
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if n.Tok != token.DEFINE {
					direct(left, 0)
				}
			}
		case *ast.IncDecStmt:
			direct(n.X, 0)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				direct(n.Key, 0)
				direct(n.Value, 0)
			}
		case *ast.SelectorExpr:
			if f, derefs, ok := r.method(n); ok {
				add(n.X, derefs, f, receiver, called[n])
			}
		case *ast.CallExpr:
			called[ast.Unparen(n.Fun)] = true
			if isBuiltin(r.TypesInfo, n, "delete") || isBuiltin(r.TypesInfo, n, "clear") || isBuiltin(r.TypesInfo, n, "copy") {
				direct(n.Args[0], 1)
			}
			f := function(r.TypesInfo, n.Fun)
			if f == nil {
				return true
			}
			for i, arg := range n.Args {
				// Arguments without a parameter of their own are in a list that the call makes.
				if s := f.Signature(); i < s.Params().Len() && (!s.Variadic() || i < s.Params().Len()-1 || n.Ellipsis.IsValid()) {
					add(arg, 1, f, i, true)
				}
			}
		}
		return true
	})
	return all
}

// method returns the method that a selector names with its receiver, and the pointers between the receiver and what the method can write.
func (r reader) method(n *ast.SelectorExpr) (f *types.Func, derefs int, ok bool) {
	selection := r.TypesInfo.Selections[n]
	if selection == nil || selection.Kind() != types.MethodVal {
		return nil, 0, false
	}
	f = selection.Obj().(*types.Func).Origin()
	if isPointer(f.Signature().Recv().Type()) && !isPointer(selection.Recv()) {
		return f, 0, true // the call takes its address
	}
	return f, 1, true
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// function returns the function or method that a call names.
func function(info *types.Info, fun ast.Expr) *types.Func {
	f, _ := objectOf(info, nameOfCalled(fun)).(*types.Func)
	if f == nil {
		return nil
	}
	return f.Origin()
}

// nameOfCalled returns the name that a call has of its function.
func nameOfCalled(fun ast.Expr) *ast.Ident {
	switch f := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		return nameOfCalled(f.X)
	case *ast.IndexListExpr:
		return nameOfCalled(f.X)
	default:
		return last(f)
	}
}

// origin is a variable that a place is in, or was taken from. derefs are the pointers, maps and lists in between; with none, the place is
// in the variable itself.
type origin struct {
	v      *types.Var
	derefs int
}

// origins returns the variables that a place is in or was taken from; none for what a call makes.
func (r reader) origins(place ast.Expr, derefs int) []origin {
	var all []origin
	var visit func(place ast.Expr, derefs int, seen []*types.Var)
	visit = func(place ast.Expr, derefs int, seen []*types.Var) {
		v, more := r.rootOf(place)
		derefs += more
		if v == nil || slices.Contains(seen, v) || slices.Contains(all, origin{v, derefs}) {
			return
		}
		all = append(all, origin{v, derefs})
		if derefs <= 0 || r.replaced(v) {
			return // the variable itself, or what it has instead
		}
		for _, value := range r.given[v] {
			visit(value, derefs, append(seen, v))
		}
	}
	visit(place, derefs, nil)
	return all
}

// rootOf returns the variable that an expression begins with, and the pointers, maps and lists in between.
func (r reader) rootOf(e ast.Expr) (v *types.Var, derefs int) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			v, _ := r.TypesInfo.ObjectOf(x).(*types.Var)
			return v, derefs
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e, derefs = x.X, derefs+1
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil, 0
			}
			e, derefs = x.X, derefs-1
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.SliceExpr:
			if _, array := r.TypesInfo.TypeOf(x.X).Underlying().(*types.Array); array {
				derefs-- // it takes the address
			}
			e = x.X
		case *ast.IndexExpr:
			switch r.TypesInfo.TypeOf(x.X).Underlying().(type) {
			case *types.Map, *types.Slice, *types.Pointer:
				derefs++
			}
			e = x.X
		case *ast.SelectorExpr:
			selection := r.TypesInfo.Selections[x]
			if selection == nil { // a variable of another package
				v, _ := r.TypesInfo.Uses[x.Sel].(*types.Var)
				return v, derefs
			}
			if selection.Kind() != types.FieldVal {
				return nil, 0
			}
			if selection.Indirect() {
				derefs++
			}
			e = x.X
		case *ast.CallExpr:
			if t, ok := r.TypesInfo.Types[x.Fun]; !ok || !t.IsType() {
				return nil, 0
			}
			e = x.Args[0] // a conversion
		default:
			return nil, 0
		}
	}
}

// valuesOfLocals returns what the variables of functions are set to. nil stands for all that has no root, such as what a call returns.
func (r reader) valuesOfLocals() map[*types.Var][]ast.Expr {
	all := map[*types.Var][]ast.Expr{}
	set := func(e, value ast.Expr) {
		id, ok := e.(*ast.Ident)
		if !ok {
			return
		}
		v, ok := r.TypesInfo.ObjectOf(id).(*types.Var)
		if !ok || isGlobal(v) || value != nil && r.TypesInfo.Types[value].IsNil() {
			return
		}
		if value != nil {
			if from, _ := r.rootOf(value); from == nil {
				value = nil
			}
		}
		all[v] = append(all[v], value)
	}
	for _, file := range r.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					set(n.Names[i], value)
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					switch {
					case n.Tok != token.ASSIGN && n.Tok != token.DEFINE: // n += 1
					case i < len(n.Rhs): // also v, ok := m[k]
						set(left, n.Rhs[i])
					default:
						set(left, nil)
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil {
					set(n.Value, &ast.IndexExpr{X: n.X})
				}
			}
			return true
		})
	}
	return all
}

// replaced tells whether a variable may have a value of its own instead of what it was taken from, or what a parameter came with.
func (r reader) replaced(v *types.Var) bool { return slices.Contains(r.given[v], nil) }

// isGlobal tells whether a variable is one of a package, not of a function.
func isGlobal(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// lasts tells whether a variable of a function, or what it points to with some derefs, is there for the next pass.
type lasts func(v *types.Var, derefs int) bool

// receiverOf returns what lasts after a pass if a method is a Plan: what its receiver points to. A method that the package only calls
// belongs to a Plan that made the receiver.
func (r reader) receiverOf(f *types.Func) lasts {
	recv := f.Signature().Recv()
	if recv == nil || !isPlanFunc(f.Signature()) || r.onlyCalled[f] {
		return nil
	}
	return func(v *types.Var, derefs int) bool { return v == recv && derefs > 0 }
}

// capturedBy returns what lasts after a pass if a function literal is a Plan: what it captures.
func (r reader) capturedBy(lit *ast.FuncLit) lasts {
	if t, ok := r.TypesInfo.TypeOf(lit).(*types.Signature); !ok || !isPlanFunc(t) {
		return nil
	}
	return func(v *types.Var, _ int) bool { return r.isCaptured(v, lit) }
}

// lasting tells whether a site writes to what lasts after a pass.
func (r reader) lasting(s site, of lasts) bool {
	return slices.ContainsFunc(r.origins(s.place, s.derefs), func(from origin) bool {
		return isGlobal(from.v) || of != nil && of(from.v, from.derefs)
	})
}

// functionsOnlyCalled returns the functions that the package calls, and doesn't give away.
func (r reader) functionsOnlyCalled() map[*types.Func]bool {
	calls, mentions := map[*types.Func]int{}, map[*types.Func]int{}
	for _, file := range r.Files {
		if r.isTest(file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f := function(r.TypesInfo, n.Fun); f != nil {
					calls[f]++
				}
			case *ast.Ident:
				if f, ok := r.TypesInfo.Uses[n].(*types.Func); ok {
					mentions[f.Origin()]++
				}
			}
			return true
		})
	}
	only := map[*types.Func]bool{}
	for f, n := range calls {
		only[f] = n == mentions[f]
	}
	return only
}
