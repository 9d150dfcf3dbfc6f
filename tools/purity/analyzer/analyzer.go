package analyzer

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer is the check. It needs facts about the packages that a package imports, so it runs under go vet.
var Analyzer = &analysis.Analyzer{
	Name:      "purity",
	Doc:       "report what makes a Plan impure: the clock, random numbers, input and output, goroutines, the order of maps, lasting state",
	URL:       "https://pkg.go.dev/github.com/armature-dev/armature/tools/purity/analyzer",
	Run:       run,
	FactTypes: []analysis.Fact{(*impure)(nil), (*writes)(nil)},
}

// impure is the fact that a function or variable isn't pure, with the way from it to the cause: "b.Stamp calls time.Now".
type impure struct {
	Way     string
	Advice  string
	Lasting bool // it only writes to what lasts after the pass
}

func (*impure) AFact() {}

func (f *impure) String() string { return f.Way }

func run(pass *analysis.Pass) (any, error) {
	path := pass.Pkg.Path()
	if standard(path) || trusted(path) {
		return nil, nil
	}
	r := newReader(pass)
	for f, ways := range r.ways {
		pass.ExportObjectFact(f, &writes{ways})
	}
	bodies := r.read()
	for o := range bodies.of {
		if _, variable := o.(*types.Var); variable && !r.isOfPackage(o) {
			continue // other packages don't know it by name
		}
		cause, ok := bodies.cause(o, true, map[visited]bool{})
		if !ok {
			cause, ok = bodies.cause(o, false, map[visited]bool{})
		}
		if ok {
			pass.ExportObjectFact(o, &impure{Way: cause.way, Advice: cause.advice, Lasting: cause.lasting})
		}
	}
	if !engine(path) {
		reportPlans(pass, bodies)
	}
	return nil, nil
}

// reportPlans reports each impure line that a Plan of the package reaches within the package, once.
func reportPlans(pass *analysis.Pass, bodies bodies) {
	told := map[token.Pos]bool{}
	var visit func(plan string, b *body, once bool, seen map[visited]bool)
	visit = func(plan string, b *body, once bool, seen map[visited]bool) {
		if seen[visited{b, once}] {
			return
		}
		seen[visited{b, once}] = true
		for _, c := range b.causes {
			if told[c.pos] || once && c.lasting {
				continue
			}
			told[c.pos] = true
			pass.Reportf(c.pos, "%s isn't pure: it %s; %s", plan, c.way, c.advice)
		}
		for _, call := range b.calls {
			visit(plan, bodies.of[call.to], once || call.once, seen)
		}
	}
	for _, plan := range bodies.plans {
		visit(plan.name, plan, false, map[visited]bool{})
	}
}

// line is a line of a file.
type line struct {
	file string
	line int
}

func lineOf(fset *token.FileSet, pos token.Pos) line {
	p := fset.Position(pos)
	return line{p.Filename, p.Line}
}

const ignore = "//purity:ignore"

// exceptions returns the lines that say why they are pure, and reports those that don't say it.
func exceptions(pass *analysis.Pass) map[line]bool {
	lines := map[line]bool{}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				reason, ok := strings.CutPrefix(c.Text, ignore)
				if !ok {
					continue
				}
				// In a test of the analyzer the text that is expected follows.
				reason, _, _ = strings.Cut(reason, "// want")
				if strings.TrimSpace(reason) == "" {
					pass.Reportf(c.Pos(), "%s has no reason: say why the line is pure", ignore)
					continue
				}
				l := lineOf(pass.Fset, c.Pos())
				lines[l] = true
				l.line++
				lines[l] = true
			}
		}
	}
	return lines
}

// isPlan tells whether a function of this type is a Plan, or a part of one that has the View.
func isPlan(t *types.Signature) bool {
	for v := range t.Results().Variables() {
		if named(v.Type(), builderPath, "Plan") {
			return true
		}
	}
	view := false
	for v := range t.Params().Variables() {
		if named(v.Type(), "context", "Context") {
			return false
		}
		view = view || named(v.Type(), builderPath, "View")
	}
	return view
}

// isPlanFunc tells whether a function of this type can be the Plan of an operator: of an owner and a View.
func isPlanFunc(t *types.Signature) bool {
	return t.Params().Len() == 2 && named(t.Params().At(1).Type(), builderPath, "View") &&
		t.Results().Len() == 1 && named(t.Results().At(0).Type(), builderPath, "Plan")
}

// named tells whether t is the named type of a package, or an instance of it, or a pointer to one.
func named(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path && n.Obj().Name() == name
}

// nameOf is how a message calls a function or variable: "planner.Plan", "(Cluster).Apply"; a field or local variable by its name only.
func nameOf(o types.Object) string {
	f, function := o.(*types.Func)
	if function && f.Signature().Recv() != nil {
		return "(" + types.TypeString(f.Signature().Recv().Type(), (*types.Package).Name) + ")." + f.Name()
	}
	if o.Pkg() == nil || !function && o.Parent() != o.Pkg().Scope() {
		return o.Name()
	}
	return o.Pkg().Name() + "." + o.Name()
}

// literalName names a function literal by its line.
func literalName(fset *token.FileSet, lit *ast.FuncLit) string {
	p := fset.Position(lit.Pos())
	return "the function literal in line " + strconv.Itoa(p.Line)
}
