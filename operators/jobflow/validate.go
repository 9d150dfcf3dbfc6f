package jobflow

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// maxProblems bounds the problems that are looked for: the first of them say enough.
const maxProblems = 100

// The schema has these bounds as well. What comes to the webhook from elsewhere than the API server hasn't been held against it.
const (
	maxNodes   = 10_000
	maxFinally = 100
	maxText    = 4096 // characters of an expression
)

// problem is what is wrong with one field of a spec.
type problem struct {
	node string // the node's name; empty for what concerns them all
	err  *field.Error
}

func (p problem) String() string {
	if p.node == "" {
		return p.err.Error()
	}
	return fmt.Sprintf("flow %q: %s", p.node, p.err)
}

// pathOf returns the path of a node.
func (c *compiled) pathOf(i int) *field.Path {
	if i < c.flows {
		return field.NewPath("spec", "flows").Index(i)
	}
	return field.NewPath("spec", "finally").Index(i - c.flows)
}

// validate returns what keeps a spec from being carried out, and compiles the expressions in it. It looks at nothing but
// the spec; what depends on a JobTemplate is seen when the template is (see template).
func (c *compiled) validate(flow *v1alpha1.JobFlow) []problem {
	var problems []problem
	report := func(node string, errs ...*field.Error) {
		for _, err := range errs {
			problems = append(problems, problem{node, err})
		}
	}
	if n := len(flow.Spec.Flows); n > maxNodes {
		report("", field.TooMany(field.NewPath("spec", "flows"), n, maxNodes))
	}
	if n := len(flow.Spec.Finally); n > maxFinally {
		report("", field.TooMany(field.NewPath("spec", "finally"), n, maxFinally))
	}
	if len(problems) > 0 {
		return problems // nothing is compiled of what no one has bounded
	}
	report("", podtemplate.ValidateGlobals(&flow.Spec.GlobalParams, field.NewPath("spec", "globalParams"))...)
	if len(flow.Spec.Flows) == 0 {
		report("", field.Required(field.NewPath("spec", "flows"), "at least one flow is needed"))
	}
	if err := validateJobs(&flow.Spec); err != nil {
		report("", err)
	}
	report("", c.compileSuccess(&flow.Spec)...)
	given := make([]int32, c.flows) // by dependency: 1 + the last node that named it
	for i := 0; i < len(c.names) && len(problems) < maxProblems; i++ {
		report(c.names[i], c.validateName(flow, i)...)
		report(c.names[i], c.validateDependencies(&flow.Spec, i, given)...)
		report(c.names[i], c.validateTemplate(&flow.Spec, i)...)
		report(c.names[i], c.validateInputs(&flow.Spec, i)...)
	}
	if cycle := c.cycle(); cycle != nil {
		report(c.names[cycle[0]], field.Invalid(c.pathOf(cycle[0]).Child("dependencies"),
			c.describeCycle(cycle), "the dependencies form a cycle"))
	}
	return problems
}

// validateName refuses what no Job can be called, and what another node's Job is called or may be.
func (c *compiled) validateName(flow *v1alpha1.JobFlow, i int) field.ErrorList {
	var errs field.ErrorList
	name, path := c.names[i], func() *field.Path { return c.pathOf(i).Child("name") }
	if !isLabel(name) {
		for _, detail := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(path(), name, detail))
		}
	}
	if c.index[name] != int32(i) {
		return append(errs, field.Duplicate(path(), name))
	}
	if c.byJob[c.jobs[i]] != int32(i) { // a name that spells out another's hash
		errs = append(errs, field.Invalid(path(), name, "another flow's Job is called "+c.jobs[i]+" too"))
	}
	has := func(name string) bool { _, ok := c.index[name]; return ok }
	isForEach := func(name string) bool { return has(name) && nodeOf(&flow.Spec, int(c.index[name])).ForEach != nil }
	if other := namesakeOf(name, has, isForEach); other != "" {
		errs = append(errs, field.Invalid(path(), name,
			fmt.Sprintf("a Job of flow %q, of an item or a retry, would be called the same", other)))
	}
	return errs
}

// isLabel reports whether a name is certainly a DNS label. It is quicker than the regular expression that has the say.
func isLabel(name string) bool {
	if name == "" || len(name) > validation.DNS1123LabelMaxLength || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if b := name[i]; b != '-' && (b < '0' || b > '9') && (b < 'a' || b > 'z') {
			return false
		}
	}
	return true
}

// validateDependencies needs to know, of each node, which named it last.
func (c *compiled) validateDependencies(spec *v1alpha1.JobFlowSpec, i int, given []int32) field.ErrorList {
	var errs field.ErrorList
	names := nodeOf(spec, i).Dependencies
	if i >= c.flows {
		if len(names) > 0 {
			errs = append(errs, field.Forbidden(c.pathOf(i).Child("dependencies"),
				"flows in finally start when all others have ended and can't have dependencies"))
		}
		return errs
	}
	for j, name := range names {
		d, known := c.index[name]
		at := func() *field.Path { return c.pathOf(i).Child("dependencies").Index(j) }
		switch {
		case known && int(d) == i, !known && name == c.names[i]:
			errs = append(errs, field.Invalid(at(), name, "a flow can't depend on itself"))
		case !known:
			errs = append(errs, field.NotFound(at(), name))
		case int(d) >= c.flows:
			errs = append(errs, field.Invalid(at(), name, "it is in finally, which runs when all flows have ended"))
		case given[d] == int32(i+1):
			errs = append(errs, field.Duplicate(at(), name))
		default:
			given[d] = int32(i + 1)
		}
	}
	return errs
}

// describeCycle renders "a -> b -> a": a depends on b, which depends on a.
func (c *compiled) describeCycle(cycle []int) string {
	var names []string
	for n, i := range cycle {
		if n == message.MaxListed {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-n))
			break
		}
		names = append(names, c.names[i])
	}
	return strings.Join(append(names, c.names[cycle[0]]), " -> ")
}
