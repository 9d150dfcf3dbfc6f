package graph

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// These constants bound all expressions of one flow together, so that no flow takes the manager's time from others. The symbols bound the
// time of compilation, some five microseconds each, and the cost bounds the time of evaluation, some 0.13 microseconds a unit: together
// less than two seconds. Ten thousand nodes that each read whether a dependency has succeeded have 400 KiB, 80,000 symbols and a cost
// of 150,000.
const (
	maxWhenText    = 1 << 20 // bytes
	maxWhenSymbols = 200_000
	maxWhenCost    = 5_000_000 // in CEL's units
	// costOfNode is the cost of each node whose end an expression reads: about a microsecond.
	costOfNode = 10
)

// symbolsIn returns the number of names, numbers, texts and other characters in an expression.
func symbolsIn(text string) int {
	n := 0
	var quote, before byte // quote is the one that began the text at i; 0 outside texts
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
			n++
		case !isWord(c) && c > ' ', isWord(c) && !isWord(before):
			n++
		}
		before = c
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// compileWhen compiles the expression of a node, unless the expressions before it have exceeded a bound.
func (g *Graph) compileWhen(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	if g.ctx.Err() != nil {
		return nil // the graph won't be used
	}
	if g.whenText > maxWhenText || g.whenSymbols > maxWhenSymbols || g.whenCost > maxWhenCost {
		return nil // that is a problem already
	}
	text, path := Node(spec, i).When, g.Path(i).Child("when")
	if utf8.RuneCountInString(text) > maxText {
		return field.ErrorList{field.TooLong(path, "", maxText)}
	}
	if g.whenText += len(text); g.whenText > maxWhenText {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one have %d bytes together, more than %d", g.whenText, maxWhenText))}
	}
	if g.whenSymbols += symbolsIn(text); g.whenSymbols > maxWhenSymbols {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one have %d names, numbers, texts and other symbols together, more than %d", g.whenSymbols, maxWhenSymbols))}
	}
	jobs := len(g.Dependencies(i))
	if i >= g.NumFlows {
		jobs = g.NumFlows
	}
	x, err := when.Compile(text, when.Scope{
		Has:     func(name string) bool { _, ok := g.before(i, name); return ok },
		Jobs:    jobs,
		Finally: i >= g.NumFlows,
	})
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	operands := g.Operands(i, x)
	cost := g.Cost(x, operands)
	if g.whenCost += cost; g.whenCost > maxWhenCost {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one may take %d steps together, more than %d; this one may take %d", g.whenCost, maxWhenCost, cost))}
	}
	g.Whens[int32(i)] = x
	if x.NeedsOutputs() {
		for _, d := range operands {
			if Node(spec, int(d)).ForEach == nil {
				g.OutputUses = append(g.OutputUses, OutputUse{d, int32(i)})
			}
		}
	}
	return nil
}

// Operands returns the nodes whose ends an expression of node i may read.
func (g *Graph) Operands(i int, x *when.Expression) []int32 {
	names, some := x.Names()
	var nodes []int32
	switch {
	case some:
		for _, name := range names {
			nodes = append(nodes, g.Index[name])
		}
	case i < g.NumFlows:
		nodes = g.Dependencies(i)
	default:
		for d := range g.NumFlows {
			nodes = append(nodes, int32(d))
		}
	}
	return nodes
}

// Cost returns what the evaluation of an expression may cost that reads the ends of these nodes, in CEL's units.
func (g *Graph) Cost(x *when.Expression, operands []int32) uint64 {
	return x.Cost() + uint64(len(operands))*costOfNode
}

// compileSuccess compiles successWhen, which reads the ends of all nodes but those in finally.
func (g *Graph) compileSuccess(spec *v1alpha1.JobFlowSpec) field.ErrorList {
	if spec.SuccessWhen == "" {
		return nil
	}
	if utf8.RuneCountInString(spec.SuccessWhen) > maxText {
		return field.ErrorList{field.TooLong(field.NewPath("spec", "successWhen"), "", maxText)}
	}
	x, err := when.Compile(spec.SuccessWhen, when.Scope{
		Has:     func(name string) bool { _, ok := g.before(g.NumFlows, name); return ok },
		Jobs:    g.NumFlows,
		Success: true,
	})
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "successWhen"), spec.SuccessWhen, err.Error())}
	}
	g.SuccessWhen = x
	return nil
}
