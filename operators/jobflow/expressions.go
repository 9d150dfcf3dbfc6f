package jobflow

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// What the expressions of one flow may be together, so that no flow takes the manager's time from those of others. Their symbols
// bound the time to compile them, some five microseconds each, and their cost that to evaluate them, some 0.13 microseconds a
// unit: together less than two seconds. Ten thousand nodes that each ask for a dependency's success have 400 KiB, 80,000 symbols
// and a cost of 150,000.
const (
	maxWhenText    = 1 << 20 // bytes
	maxWhenSymbols = 200_000
	maxWhenCost    = 5_000_000 // in CEL's units
	// costOfNode is what counts for each node that an expression looks at: some microsecond, to tell it how the node has ended.
	costOfNode = 10
	// costOfPass is what a pass evaluates at most before it gives way to those of other flows, some 30 ms.
	costOfPass = 250_000
)

// symbolsIn returns how many names, numbers, texts and other characters an expression has.
func symbolsIn(text string) int {
	n := 0
	var quote, before byte // quote is that of the text that i is in
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

// compileWhen compiles the expression of a node. Once those of the spec are too much together, no other is looked at.
func (c *compiled) compileWhen(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	if c.ctx.Err() != nil {
		return nil // nobody uses what this one comes to
	}
	if c.whenText > maxWhenText || c.whenSymbols > maxWhenSymbols || c.whenCost > maxWhenCost {
		return nil // it has been told
	}
	text, path := nodeOf(spec, i).When, c.pathOf(i).Child("when")
	if utf8.RuneCountInString(text) > maxText {
		return field.ErrorList{field.TooLong(path, "", maxText)}
	}
	if c.whenText += len(text); c.whenText > maxWhenText {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one have %d bytes together, more than %d", c.whenText, maxWhenText))}
	}
	if c.whenSymbols += symbolsIn(text); c.whenSymbols > maxWhenSymbols {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one have %d names, numbers, texts and other symbols together, more than %d", c.whenSymbols, maxWhenSymbols))}
	}
	jobs := len(c.dependencies(i))
	if i >= c.flows {
		jobs = c.flows
	}
	x, err := when.Compile(text, when.Scope{
		Has:     func(name string) bool { _, ok := c.before(i, name); return ok },
		Jobs:    jobs,
		Finally: i >= c.flows,
	})
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	seen := c.seenBy(i, x)
	cost := x.Cost() + uint64(len(seen))*costOfNode
	if c.whenCost += cost; c.whenCost > maxWhenCost {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one may take %d steps together, more than %d; this one may take %d", c.whenCost, maxWhenCost, cost))}
	}
	c.whens[int32(i)] = x
	if x.NeedsOutputs() {
		for _, d := range seen {
			if nodeOf(spec, int(d)).ForEach == nil {
				c.uses = append(c.uses, use{d, int32(i)})
			}
		}
	}
	return nil
}

// givesWay reports whether a pass leaves the expressions that it hasn't evaluated to the next one. It does after [costOfPass], unless
// it has come to nothing yet: then the next pass would evaluate the same expressions.
func (p *pass) givesWay() bool {
	if p.evaluated < costOfPass || p.ended == 0 && len(p.start) == 0 {
		return false
	}
	p.urgent = true // the next pass has to know what this one has decided
	p.wakeIn(stopDelay)
	return true
}

// seenBy returns the nodes that an expression of a node looks at.
func (c *compiled) seenBy(i int, x *when.Expression) []int32 {
	names, some := x.Names()
	var nodes []int32
	switch {
	case some:
		for _, name := range names {
			nodes = append(nodes, c.index[name])
		}
	case i < c.flows:
		nodes = c.dependencies(i)
	default:
		for d := range c.flows {
			nodes = append(nodes, int32(d))
		}
	}
	return nodes
}
