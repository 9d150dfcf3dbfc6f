package analyzer

import (
	"go/ast"
	"go/types"
	"strings"
)

// values returns what the variables may have that a Plan can reach without a call of their function: variables of the package, and
// fields, captured variables and captured parameters that have functions. It knows no order: each value that the package assigns
// counts, but for those of tests.
func (r reader) values() map[*types.Var][]ast.Expr {
	all := map[*types.Var][]ast.Expr{}
	set := func(v types.Object, value ast.Expr) {
		of, ok := v.(*types.Var)
		if !ok {
			return
		}
		if _, function := of.Type().Underlying().(*types.Signature); function || r.isOfPackage(of) {
			all[of.Origin()] = append(all[of.Origin()], value)
		}
	}
	captured := r.capturedParameters()
	for _, file := range r.Files {
		if r.isTest(file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					set(r.TypesInfo.Defs[n.Names[i]], value)
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if len(n.Rhs) == len(n.Lhs) {
						set(objectOf(r.TypesInfo, last(left)), n.Rhs[i])
					}
				}
			case *ast.CompositeLit:
				for field, value := range fieldsOf(r.TypesInfo, n) {
					set(field, value)
				}
			case *ast.CallExpr:
				f := r.calledHere(n)
				for i, arg := range n.Args {
					if f != nil && i < f.Signature().Params().Len() && captured[f.Signature().Params().At(i)] {
						set(f.Signature().Params().At(i), arg)
					}
				}
			}
			return true
		})
	}
	return all
}

// capturedParameters are the parameters of functions that have a Plan's literal. Those of other functions are looked at where the
// function is called: whoever calls it mentions what it gives.
func (r reader) capturedParameters() map[*types.Var]bool {
	all := map[*types.Var]bool{}
	for _, file := range r.Files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for range r.planLiterals(d) {
				f, _ := r.TypesInfo.Defs[d.Name].(*types.Func)
				for p := range f.Signature().Params().Variables() {
					all[p] = true
				}
			}
		}
	}
	return all
}

func (r reader) isOfPackage(v types.Object) bool { return v.Parent() == r.Pkg.Scope() }

// calledHere returns the function of the package that a call names.
func (r reader) calledHere(call *ast.CallExpr) *types.Func {
	f, _ := objectOf(r.TypesInfo, last(call.Fun)).(*types.Func)
	if f == nil || f.Pkg() != r.Pkg {
		return nil
	}
	return f.Origin()
}

// last is the name that an expression ends with: y of x.y.
func last(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// fieldsOf returns the fields of a struct that a literal sets.
func fieldsOf(info *types.Info, lit *ast.CompositeLit) map[*types.Var]ast.Expr {
	t := info.TypeOf(lit)
	if p, ok := t.Underlying().(*types.Pointer); ok { // {...} in a list of pointers
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	fields := map[*types.Var]ast.Expr{}
	for i, element := range lit.Elts {
		pair, named := element.(*ast.KeyValueExpr)
		if !named {
			fields[s.Field(i)] = element
		} else if v, ok := info.Uses[last(pair.Key)].(*types.Var); ok {
			fields[v] = pair.Value
		}
	}
	return fields
}

func isMethodOfInterface(f *types.Func) bool {
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// implementations returns the methods that a call of an interface's method may run: those of types of the package, and of the packages of
// the module that it imports. Interfaces of other modules are left out: the packages that implement them are countless.
func (r reader) implementations(f *types.Func) []*types.Func {
	if f.Pkg() == nil || !r.isOfModule(f.Pkg().Path()) {
		return nil
	}
	of, ok := f.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	if all, ok := r.implementing[f]; ok {
		return all
	}
	var all []*types.Func
	for _, pkg := range append([]*types.Package{r.Pkg}, r.Pkg.Imports()...) {
		if !r.isOfModule(pkg.Path()) {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || types.IsInterface(t.Type()) || !types.Implements(types.NewPointer(t.Type()), of) {
				continue
			}
			method, _, _ := types.LookupFieldOrMethod(t.Type(), true, f.Pkg(), f.Name())
			if m, ok := method.(*types.Func); ok && !isMethodOfInterface(m) { // a struct may embed the interface
				all = append(all, m.Origin())
			}
		}
	}
	r.implementing[f] = all
	return all
}

// isOfModule tells whether a package is of the module that is looked at. Tests of the analyzer have none; there it is the domain.
func (r reader) isOfModule(path string) bool {
	if r.Module != nil && r.Module.Path != "" {
		return path == r.Module.Path || strings.HasPrefix(path, r.Module.Path+"/")
	}
	domain, _, _ := strings.Cut(r.Pkg.Path(), "/")
	return strings.HasPrefix(path, domain+"/")
}
