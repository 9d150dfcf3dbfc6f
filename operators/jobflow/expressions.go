package jobflow

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/when"
)

// What the expressions of one flow may be together, so that no flow takes the manager's time from those of others. Their text
// bounds the time to compile them, once for each change of the spec and less than a second, and their cost that to evaluate them,
// less than half of one. Ten thousand nodes that each ask for a dependency's success have 400 KiB and a cost of 50,000.
const (
	maxWhenText = 1 << 20    // bytes
	maxWhenCost = 20_000_000 // in CEL's units
)

// compileWhen compiles the expression of a node. Once those of the spec are too much together, no other is looked at.
func (c *compiled) compileWhen(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	if c.whenText > maxWhenText || c.whenCost > maxWhenCost {
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
	if c.whenCost += x.Cost(); c.whenCost > maxWhenCost {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
			"the expressions up to this one may take %d steps together, more than %d; this one may take %d", c.whenCost, maxWhenCost, x.Cost()))}
	}
	c.whens[int32(i)] = x
	if x.NeedsOutputs() {
		for _, d := range c.seenBy(i, x) {
			if nodeOf(spec, int(d)).ForEach == nil {
				c.uses = append(c.uses, use{d, int32(i)})
			}
		}
	}
	return nil
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
