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

// Scope is what an expression may look at.
type Scope struct {
	// Has says whether jobs has a flow of this name.
	Has func(name string) bool
	// Jobs is how many flows jobs has at most. What an expression may cost follows from it.
	Jobs int
	// Finally: there is state besides.
	Finally bool
	// Success: it is successWhen, which has no outputs to look at.
	Success bool
}

// Expression is what there is to know of an expression that compiles. It is safe for concurrent use, and small: the
// program is made when it is evaluated.
type Expression struct {
	source  source
	names   []string
	all     bool
	outputs bool
	cost    uint64
}

// Error is what is wrong with an expression, and where.
type Error struct {
	// Line and Column are counted from 1.
	Line, Column int
	// Message says what is wrong.
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
	err := x.lookAt(checked.NativeRep(), scope)
	if err != nil {
		return nil, err
	}
	x.cost, err = costOf(env, checked, scope.Jobs)
	if err != nil {
		return nil, &Error{1, 1, err.Error()}
	}
	return x, nil
}

// source is all that a program follows from.
type source struct {
	text    string
	finally bool
}

// check finds out whether a source is an expression.
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

// lookAt finds out which flows an expression names, and refuses names that jobs doesn't have, and outputs if there are none.
func (x *Expression) lookAt(checked *ast.AST, scope Scope) (err error) {
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
				err = errorAt(checked, e.ID(), "outputs can't be looked at here, only succeeded, failed and skipped")
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

// errorAt is an error at the place of an expression.
func errorAt(checked *ast.AST, id int64, message string) *Error {
	place := checked.SourceInfo().GetStartLocation(id)
	return &Error{place.Line(), place.Column() + 1, message}
}

func isJobs(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "jobs" }

// Names returns the flows that the expression looks at, and false if these may be all that it may look at.
func (x *Expression) Names() (names []string, ok bool) { return x.names, !x.all }

// NeedsOutputs reports whether it may look at outputs.
func (x *Expression) NeedsOutputs() bool { return x.outputs }
