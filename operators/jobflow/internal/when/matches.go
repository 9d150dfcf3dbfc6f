package when

import (
	"fmt"
	"math"
	"regexp"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/armature-dev/armature/operators/internal/pattern"
)

// CEL takes the cost of a regular expression from its length, and compiles it in each call, which no limit and no context interrupts. A
// repetition of a few characters can be a million instructions. matches is therefore CEL's function with a bound, costs by size, and
// compiles an expression that it matches again once.

// withoutMatches is CEL's standard library.
var withoutMatches = cel.StdLibSubset(env.NewLibrarySubset().AddExcludedFunctions(env.NewFunction(overloads.Matches)))

// boundedMatches declares the function matches as CEL does.
func boundedMatches() cel.EnvOption {
	of := []*cel.Type{cel.StringType, cel.StringType}
	return cel.Function(overloads.Matches,
		cel.Overload(overloads.Matches, of, cel.BoolType),
		cel.MemberOverload(overloads.MatchesString, of, cel.BoolType),
		cel.SingletonBinaryBinding(matches, traits.MatcherType))
}

// maxSteps bounds one match, in characters times instructions: nothing interrupts it. It takes some 0.1 s then.
const maxSteps = 2_000_000

func matches(text, expression ref.Val) ref.Val {
	s, isText := text.(types.String)
	x, isExpression := expression.(types.String)
	if !isText || !isExpression {
		return text.(traits.Matcher).Match(expression)
	}
	p := patternOf(string(x))
	if p.err != nil {
		return types.WrapErr(p.err)
	}
	if p.size*len(s) > maxSteps {
		return types.WrapErr(fmt.Errorf("a text of %d characters and a regular expression of %d instructions are too large together: "+
			"their product may be %d", utf8.RuneCountInString(string(s)), p.size, maxSteps))
	}
	return types.Bool(p.program.MatchString(string(s)))
}

// maxPatterns bounds the regular expressions that are kept, of all flows together: some 40 MB of the largest.
const maxPatterns = 100

// patterns are those that were matched last, by text.
var patterns, _ = lru.New[string, compiledPattern](maxPatterns) // fails only for a size below 1

// compiledPattern is a regular expression.
type compiledPattern struct {
	size    int
	program *regexp.Regexp
	err     error // why there is no program
}

// patternOf returns a regular expression, compiled unless it is too large.
func patternOf(text string) (p compiledPattern) {
	if known, ok := patterns.Get(text); ok {
		return known
	}
	if p.size, _ = pattern.Size(text); p.size > pattern.MaxSize {
		p.err = tooLarge(p.size)
		return p
	}
	p.program, p.err = regexp.Compile(text)
	patterns.Add(text, p) //purity:ignore a program is a function of its text, and only saves time
	return p
}

func tooLarge(size int) error {
	return fmt.Errorf("the regular expressions up to this one have %d instructions together, more than %d", size, pattern.MaxSize)
}

// checkPatterns refuses literal regular expressions that are too large together. Those that don't compile fail the evaluation.
func checkPatterns(checked *ast.AST) (err error) {
	size := 0
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if err != nil || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		text, ok := literal(args[len(args)-1])
		if !ok {
			return
		}
		n, _ := pattern.Size(text)
		if size += n; size > pattern.MaxSize {
			err = errorAt(checked, e.ID(), tooLarge(size).Error())
		}
	}))
	return err
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().Value().(string)
	return text, ok
}

// costOfInstruction is the cost of the compilation of an instruction, or of parsing as long.
const costOfInstruction = 4

// costOfExcess returns the cost of the match of a text of a length with a regular expression whose size is more than twice that of its
// text. Others, which repeat little, cost what CEL says.
func costOfExcess(length checker.SizeEstimate, expression string, size int) (checker.CostEstimate, bool) {
	excess := size - utf8.RuneCountInString(expression)
	if excess <= utf8.RuneCountInString(expression) {
		return checker.CostEstimate{}, false
	}
	steps := uint64(math.Ceil(float64(size) * common.RegexStringLengthCostFactor))
	compilation := uint64(excess * costOfInstruction)
	return length.Add(checker.SizeEstimate{Min: 1, Max: 1}).MultiplyByCostFactor(common.StringTraversalCostFactor).
		Multiply(checker.CostEstimate{Min: steps, Max: steps}).Add(checker.CostEstimate{Min: compilation, Max: compilation}), true
}

// EstimateCallCost leaves the cost of functions to CEL, but for regular expressions that are much larger than their text.
func (s sizes) EstimateCallCost(function, _ string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if function != overloads.Matches {
		return nil
	}
	if target != nil {
		args = append([]checker.AstNode{*target}, args...)
	}
	text, ok := literal(args[1].Expr())
	if !ok {
		return nil
	}
	length := args[0].ComputedSize()
	if length == nil {
		length = s.EstimateSize(args[0])
	}
	if length == nil {
		length = &checker.SizeEstimate{Max: math.MaxUint64}
	}
	size, _ := pattern.Size(text)
	cost, ok := costOfExcess(*length, text, size)
	if !ok {
		return nil
	}
	return &checker.CallEstimate{CostEstimate: cost}
}

// actual is the cost of calls at an evaluation, for CEL.
type actual struct{}

// CallCost leaves the cost of functions to CEL, but for regular expressions that are much larger than their text.
func (actual) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	if function != overloads.Matches || len(args) != 2 {
		return nil
	}
	text, isText := args[0].(types.String)
	expression, isExpression := args[1].(types.String)
	if !isText || !isExpression {
		return nil
	}
	length := uint64(utf8.RuneCountInString(string(text)))
	cost, ok := costOfExcess(checker.SizeEstimate{Min: length, Max: length}, string(expression), patternOf(string(expression)).size)
	if !ok {
		return nil
	}
	return &cost.Max
}
