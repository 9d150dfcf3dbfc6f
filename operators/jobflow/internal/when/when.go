package when

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// Scope is what an expression may read.
type Scope struct {
	// Has reports whether jobs has a flow of this name.
	Has func(name string) bool
	// Jobs is the maximum number of flows in jobs. It determines what an expression may cost.
	Jobs int
	// Finally is true for expressions in finally, which may also read state.
	Finally bool
	// Success is true for successWhen, which can't read outputs.
	Success bool
}

// Expression is an expression that compiles. It is safe for concurrent use, and small: its program is made when it is evaluated.
type Expression struct {
	source  source
	names   []string
	all     bool
	outputs bool
	cost    uint64
}

// Error is an error in an expression, and its position.
type Error struct {
	// Line and Column are counted from 1.
	Line, Column int
	// Message is what is wrong.
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Compile compiles an expression. The error is an [*Error].
func Compile(text string, scope Scope) (*Expression, error) {
	x := &Expression{source: source{text, scope.Finally}, outputs: strings.Contains(text, "output") && !scope.Success}
	env, checked, wrong := x.source.check()
	if wrong != nil {
		wrong.Message += hyphenHint(text, scope)
		return nil, wrong
	}
	err := x.findNames(checked.NativeRep(), scope)
	if err == nil {
		err = checkPatterns(checked.NativeRep())
	}
	if err != nil {
		return nil, err
	}
	x.cost, err = costOf(env, checked, scope.Jobs)
	if err != nil {
		return nil, &Error{1, 1, err.Error()}
	}
	return x, nil
}

// source determines a program.
type source struct {
	text    string
	finally bool
}

// check compiles a source, and refuses it if its result isn't a bool.
func (s source) check() (*cel.Env, *cel.Ast, *Error) {
	envs, err := environments()
	if err != nil {
		return nil, nil, &Error{1, 1, err.Error()}
	}
	env := envs.flow
	if s.finally {
		env = envs.finally
	}
	checked, issues := env.Compile(s.text)
	if issues.Err() != nil {
		return nil, nil, firstOf(issues.Errors())
	}
	if t := checked.OutputType(); t.Kind() != types.BoolKind {
		return nil, nil, &Error{1, 1, fmt.Sprintf("it is of type %s, and must be a bool", t)}
	}
	return env, checked, nil
}

// withHyphen finds a name with hyphens behind a dot, which CEL reads as a subtraction.
var withHyphen = regexp.MustCompile(`\bjobs\.([a-z0-9]+(?:-[a-z0-9]+)+)`)

// hyphenHint says how a flow is named whose name has a hyphen, if an expression names one as if it had none.
func hyphenHint(text string, scope Scope) string {
	for _, found := range withHyphen.FindAllStringSubmatch(text, -1) {
		for name := found[1]; strings.Contains(name, "-"); name = name[:strings.LastIndex(name, "-")] {
			if scope.Has(name) {
				return fmt.Sprintf("; a name with a hyphen needs brackets: jobs[%q]", name)
			}
		}
	}
	return ""
}

// firstOf returns the first of some errors, and how many more there are.
func firstOf(errs []*common.Error) *Error {
	first := errs[0]
	e := &Error{first.Location.Line(), max(first.Location.Column(), 0) + 1, first.Message}
	if n := len(errs) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", n)
	}
	return e
}

// findNames finds the flows that an expression names. It refuses names that jobs doesn't have, and outputs in successWhen.
func (x *Expression) findNames(checked *ast.AST, scope Scope) (err error) {
	named := map[int64]bool{} // occurrences of jobs with a name behind them
	known := map[string]bool{}
	name := func(jobs ast.Expr, name string, at int64) {
		named[jobs.ID()] = true
		if !scope.Has(name) {
			if err == nil {
				message := fmt.Sprintf("jobs has no %q: it isn't among the dependencies", name)
				if scope.Finally || scope.Success {
					message = fmt.Sprintf("jobs has no %q: no flow has this name", name)
				}
				err = errorAt(checked, at, message)
			}
			return
		}
		if !known[name] {
			known[name] = true
			x.names = append(x.names, name)
		}
	}
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.SelectKind && isJobs(e.AsSelect().Operand()):
			if !e.AsSelect().IsTestOnly() { // has(jobs.x) may ask for what there isn't
				name(e.AsSelect().Operand(), e.AsSelect().FieldName(), e.ID())
			}
		case e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == "output" && scope.Success:
			if err == nil {
				err = errorAt(checked, e.ID(), "outputs can't be read here, only succeeded, failed and skipped")
			}
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "_[_]" && isJobs(e.AsCall().Args()[0]):
			if key := e.AsCall().Args()[1]; key.Kind() == ast.LiteralKind {
				if text, ok := key.AsLiteral().Value().(string); ok {
					name(e.AsCall().Args()[0], text, e.ID())
				}
			}
		case isJobs(e) && !named[e.ID()]:
			x.all = true
		}
	}))
	return err
}

// errorAt returns an error at the position of an expression.
func errorAt(checked *ast.AST, id int64, message string) *Error {
	start := checked.SourceInfo().GetStartLocation(id)
	return &Error{start.Line(), start.Column() + 1, message}
}

func isJobs(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "jobs" }

// Names returns the flows that the expression reads, and false if it may read all flows.
func (x *Expression) Names() (names []string, ok bool) { return x.names, !x.all }

// NeedsOutputs reports whether the expression may read outputs.
func (x *Expression) NeedsOutputs() bool { return x.outputs }
