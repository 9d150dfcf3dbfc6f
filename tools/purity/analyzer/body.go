package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// body is what a function does that matters here.
type body struct {
	name   string
	causes []cause // what isn't pure in the function itself, or is known of functions of other packages
	calls  []call  // functions of the package that it calls or mentions
}

// cause is a place that isn't pure.
type cause struct {
	pos    token.Pos
	way    string // what it does: "calls time.Now"
	advice string
}

type call struct {
	pos token.Pos
	to  *types.Func
}

// bodies are those of a package.
type bodies struct {
	functions map[*types.Func]*body
	plans     []*body
}

// read reads all functions of a package but for the lines that are excused. own says whether the package is of the module that is
// looked at.
func read(pass *analysis.Pass, own bool, excused map[line]bool) bodies {
	all := bodies{functions: map[*types.Func]*body{}}
	for _, file := range pass.Files {
		test := strings.HasSuffix(pass.Fset.File(file.Pos()).Name(), "_test.go")
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
				f, ok := pass.TypesInfo.Defs[d.Name].(*types.Func)
				if !ok {
					continue
				}
				b := readBody(pass, nameOf(f), d.Body, own, excused)
				all.functions[f] = b
				if !test && isPlan(f.Signature()) {
					all.plans = append(all.plans, b)
				}
			}
			for lit := range literals(decl) {
				if t, ok := pass.TypesInfo.TypeOf(lit).(*types.Signature); ok && !test && isPlan(t) {
					all.plans = append(all.plans, readBody(pass, literalName(pass.Fset, lit), lit.Body, own, excused))
				}
			}
		}
	}
	for _, b := range all.functions {
		b.calls = keepKnown(b.calls, all.functions)
	}
	for _, b := range all.plans {
		b.calls = keepKnown(b.calls, all.functions)
	}
	return all
}

// literals returns the function literals below a node, also those within others.
func literals(n ast.Node) func(yield func(*ast.FuncLit) bool) {
	return func(yield func(*ast.FuncLit) bool) {
		more := true
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && more {
				more = yield(lit)
			}
			return more
		})
	}
}

// keepKnown drops calls of functions without a body, such as methods of interfaces.
func keepKnown(calls []call, known map[*types.Func]*body) []call {
	var kept []call
	for _, c := range calls {
		if known[c.to] != nil {
			kept = append(kept, c)
		}
	}
	return kept
}

func readBody(pass *analysis.Pass, name string, block *ast.BlockStmt, own bool, excused map[line]bool) *body {
	b := &body{name: name}
	add := func(pos token.Pos, way, advice string) {
		if !excused[lineOf(pass.Fset, pos)] {
			b.causes = append(b.causes, cause{pos, way, advice})
		}
	}
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			f, ok := pass.TypesInfo.Uses[n].(*types.Func)
			if !ok {
				break
			}
			f = f.Origin()
			if isSetCondition(f) {
				break // its call is looked at
			}
			if advice, ok := source(f, own); ok {
				add(n.Pos(), "calls "+nameOf(f), advice)
				break
			}
			if f.Pkg() == pass.Pkg && !excused[lineOf(pass.Fset, n.Pos())] {
				b.calls = append(b.calls, call{n.Pos(), f})
				break
			}
			var fact impure
			if f.Pkg() != nil && pass.ImportObjectFact(f, &fact) {
				add(n.Pos(), "calls "+nameOf(f)+", which "+fact.Way, fact.Advice)
			}
		case *ast.GoStmt:
			if own {
				add(n.Pos(), "starts a goroutine", adviceConcurrent)
			}
		case *ast.SendStmt:
			if own {
				add(n.Pos(), "sends to a channel", adviceConcurrent)
			}
		case *ast.UnaryExpr:
			if own && n.Op == token.ARROW {
				add(n.Pos(), "receives from a channel", adviceConcurrent)
			}
		case *ast.SelectStmt:
			if own {
				add(n.Pos(), "selects from channels", adviceConcurrent)
			}
		case *ast.RangeStmt:
			if own {
				if _, ok := pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan); ok {
					add(n.Pos(), "receives from a channel", adviceConcurrent)
				}
				if way, ok := orderOf(pass.TypesInfo, n, block); ok {
					add(n.Pos(), way, adviceOrder)
				}
			}
		case *ast.CallExpr:
			if f := called(pass.TypesInfo, n.Fun); f != nil && isSetCondition(f) && !setsTime(block) {
				add(n.Pos(), "calls "+nameOf(f)+", which calls time.Now for a condition without a time", adviceCondition)
			}
			if own && collectsUnsorted(pass.TypesInfo, n, block) {
				add(n.Pos(), "collects a map in no order", adviceOrder)
			}
		}
		return true
	})
	return b
}

// cause returns the first reason for which a function isn't pure, its own or that of what it calls.
func (b bodies) cause(f *types.Func, seen map[*types.Func]bool) (cause, bool) {
	if seen[f] || b.functions[f] == nil {
		return cause{}, false
	}
	seen[f] = true
	own := b.functions[f]
	if len(own.causes) > 0 {
		return own.causes[0], true
	}
	for _, c := range own.calls {
		if found, ok := b.cause(c.to, seen); ok {
			return cause{pos: c.pos, way: "calls " + nameOf(c.to) + ", which " + found.way, advice: found.advice}, true
		}
	}
	return cause{}, false
}
