package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// body is what a function does that matters here. That of a variable is what the functions do that it may have.
type body struct {
	name   string
	causes []cause // what isn't pure in the function itself, or is known of functions of other packages
	calls  []call  // functions and variables of the package that it calls or mentions
}

// cause is a place that isn't pure.
type cause struct {
	pos    token.Pos
	way    string // what it does: "calls time.Now"
	advice string
	// lasting: it writes to what lasts after the pass, which is no cause in what runs once in the process.
	lasting bool
}

type call struct {
	pos  token.Pos
	to   types.Object
	once bool // it runs once in the process
}

// bodies are those of a package.
type bodies struct {
	of    map[types.Object]*body
	plans []*body
}

// reader reads the functions of a package but for the lines that are excused. own says whether the package is of the module that is
// looked at.
type reader struct {
	*analysis.Pass
	own     bool
	excused map[line]bool

	implementing map[*types.Func][]*types.Func // the methods by that of the interface

	given      map[*types.Var][]ast.Expr      // what the variables of functions are set to
	params     map[*types.Var]*types.Func     // the functions by their parameters
	onlyCalled map[*types.Func]bool           // the functions that aren't given away
	ways       map[*types.Func]map[int]string // how functions write to what their parameters point to
}

func newReader(pass *analysis.Pass) reader {
	r := reader{Pass: pass, own: ours(pass.Module), excused: exceptions(pass),
		implementing: map[*types.Func][]*types.Func{}, ways: map[*types.Func]map[int]string{}}
	if r.own {
		r.given, r.params, r.onlyCalled = r.valuesOfLocals(), r.paramsOfFunctions(), r.functionsOnlyCalled()
		r.readWrites()
	}
	return r
}

// read reads all functions and variables of the package.
func (r reader) read() bodies {
	all := bodies{of: map[types.Object]*body{}}
	for _, file := range r.Files {
		test := r.isTest(file)
		for _, decl := range file.Decls {
			var within []ast.Node // the Plans that the next literal may be in: what it captures is of a pass
			if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
				f, ok := r.TypesInfo.Defs[d.Name].(*types.Func)
				if !ok {
					continue
				}
				b := r.body(nameOf(f), d.Body, r.receiverOf(f))
				all.of[f] = b
				if isPlan(f.Signature()) {
					within = append(within, d)
					if !test {
						all.plans = append(all.plans, b)
					}
				}
			}
			for lit := range r.planLiterals(decl) {
				of := r.capturedBy(lit)
				if slices.ContainsFunc(within, func(plan ast.Node) bool { return plan.Pos() <= lit.Pos() && lit.End() <= plan.End() }) {
					of = nil
				}
				within = append(within, lit)
				if !test {
					all.plans = append(all.plans, r.body(literalName(r.Fset, lit), lit.Body, of))
				}
			}
		}
	}
	if r.own {
		for v, expressions := range r.values() {
			b := &body{name: nameOf(v)}
			for _, e := range expressions {
				of := r.body("", e, nil)
				b.causes, b.calls = append(b.causes, of.causes...), append(b.calls, of.calls...)
			}
			all.of[v] = b
		}
	}
	for _, b := range all.of {
		b.calls = keepKnown(b.calls, all.of)
	}
	for _, b := range all.plans {
		b.calls = keepKnown(b.calls, all.of)
	}
	return all
}

func (r reader) isTest(file *ast.File) bool {
	return strings.HasSuffix(r.Fset.File(file.Pos()).Name(), "_test.go")
}

// planLiterals returns the function literals below a node that are Plans, also those within others.
func (r reader) planLiterals(n ast.Node) func(yield func(*ast.FuncLit) bool) {
	return func(yield func(*ast.FuncLit) bool) {
		more := true
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && more {
				if t, ok := r.TypesInfo.TypeOf(lit).(*types.Signature); ok && isPlan(t) {
					more = yield(lit)
				}
			}
			return more
		})
	}
}

// keepKnown drops calls of what has no body, such as methods of interfaces.
func keepKnown(calls []call, known map[types.Object]*body) []call {
	var kept []call
	for _, c := range calls {
		if known[c.to] != nil {
			kept = append(kept, c)
		}
	}
	return kept
}

// body reads a function's block, or the value of a variable. of tells what lasts after the pass besides variables of packages.
func (r reader) body(name string, block ast.Node, of lasts) *body {
	b := &body{name: name}
	add := func(pos token.Pos, way, advice string) {
		if !r.excused[lineOf(r.Fset, pos)] {
			b.causes = append(b.causes, cause{pos: pos, way: way, advice: advice})
		}
	}
	if r.own {
		b.causes = r.lastingWrites(block, of)
	}
	once, isCalled := r.runsOnce(block), map[*ast.Ident]bool{}
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			r.mention(b, n, once(n.Pos(), isCalled[n]), add)
		case *ast.CallExpr:
			isCalled[nameOfCalled(n.Fun)] = true
			if f := called(r.TypesInfo, n.Fun); f != nil && isSetCondition(f) && !setsTime(block) {
				add(n.Pos(), "calls "+nameOf(f)+", which calls time.Now for a condition without a time", adviceCondition)
			}
			if r.own && collectsUnsorted(r.TypesInfo, n, block) {
				add(n.Pos(), "collects a map in no order", adviceOrder)
			}
		case *ast.RangeStmt:
			if r.own {
				if way, ok := orderOf(r.TypesInfo, n, block); ok {
					add(n.Pos(), way, adviceOrder)
				}
			}
		}
		if way := concurrent(r.TypesInfo, n); way != "" && r.own {
			add(n.Pos(), way, adviceConcurrent)
		}
		return true
	})
	return b
}

// mention notes what a name stands for in a body.
func (r reader) mention(b *body, n *ast.Ident, once bool, add func(pos token.Pos, way, advice string)) {
	to := r.TypesInfo.Uses[n]
	switch o := to.(type) {
	case *types.Func:
		f := o.Origin()
		to = f
		if isSetCondition(f) {
			return // its call is looked at
		}
		if advice, ok := source(f, r.own); ok {
			add(n.Pos(), "calls "+nameOf(f), advice)
			return
		}
		if r.own && isMethodOfInterface(f) {
			for _, method := range r.implementations(f) {
				r.follow(b, n, method, once)
			}
			return
		}
	case *types.Var:
		to = o.Origin()
		if r.own && o.Pkg() != nil && o.Pkg().Path() == "os" && variablesOfOS[o.Name()] {
			add(n.Pos(), "reads "+nameOf(o), adviceOutside)
			return
		}
		if r.own && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && isGenerator(o.Type()) {
			add(n.Pos(), "draws from "+nameOf(o)+", which earlier calls have advanced", adviceRandom)
			return
		}
	default:
		return
	}
	r.follow(b, n, to, once)
}

// follow notes that a body calls a function, or what a variable has: as a call within the package, or by what is known of another one.
func (r reader) follow(b *body, n *ast.Ident, to types.Object, once bool) {
	if to.Pkg() == r.Pkg {
		if !r.excused[lineOf(r.Fset, n.Pos())] {
			b.calls = append(b.calls, call{n.Pos(), to, once})
		}
		return
	}
	var fact impure
	if to.Pkg() != nil && r.ImportObjectFact(to, &fact) && !(fact.Lasting && once) && !r.excused[lineOf(r.Fset, n.Pos())] {
		b.causes = append(b.causes, cause{n.Pos(), "calls " + nameOf(to) + ", which " + fact.Way, fact.Advice, fact.Lasting})
	}
}

// concurrent returns what a node does with goroutines and channels; empty for nothing.
func concurrent(info *types.Info, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SendStmt:
		return "sends to a channel"
	case *ast.SelectStmt:
		return "selects from channels"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receives from a channel"
		}
	case *ast.RangeStmt:
		if _, ok := info.TypeOf(n.X).Underlying().(*types.Chan); ok {
			return "receives from a channel"
		}
	case *ast.CallExpr:
		if isBuiltin(info, n, "close") {
			return "closes a channel"
		}
	}
	return ""
}

// visited is a function or variable that was looked at, for all causes, or only for those that count in what runs once.
type visited struct {
	of   *body
	once bool
}

// cause returns the first reason for which a function or variable isn't pure, its own or that of what it calls. Of what runs once it
// looks for another reason than a write.
func (b bodies) cause(of types.Object, once bool, seen map[visited]bool) (cause, bool) {
	own := b.of[of]
	if own == nil || seen[visited{own, once}] {
		return cause{}, false
	}
	seen[visited{own, once}] = true
	for _, c := range own.causes {
		if !once || !c.lasting {
			return c, true
		}
	}
	for _, c := range own.calls {
		if found, ok := b.cause(c.to, once || c.once, seen); ok {
			return cause{pos: c.pos, way: "calls " + nameOf(c.to) + ", which " + found.way, advice: found.advice, lasting: found.lasting}, true
		}
	}
	return cause{}, false
}
