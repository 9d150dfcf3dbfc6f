package graph

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/graph"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// maxProblems is the number of problems after which validation stops.
const maxProblems = 100

// The schema has these bounds as well, but the admission webhook also gets objects that the API server hasn't validated.
const (
	maxNodes   = 10_000
	maxFinally = 100
	maxText    = 4096 // characters of an expression

	// MaxItems bounds the items of one forEach.
	MaxItems = 1000
	// maxJobs bounds the Jobs of a flow with all items, so that no flow keeps the cluster's controllers from others.
	maxJobs = 100_000
)

// Problem is what is wrong with one field of a spec.
type Problem struct {
	Node string // the node's name; empty if the field isn't one of a node
	Err  *field.Error
}

func (p Problem) String() string {
	if p.Node == "" {
		return p.Err.Error()
	}
	return fmt.Sprintf("flow %q: %s", p.Node, p.Err)
}

// Path returns the path of a node.
func (g *Graph) Path(i int) *field.Path {
	if i < g.NumFlows {
		return field.NewPath("spec", "flows").Index(i)
	}
	return field.NewPath("spec", "finally").Index(i - g.NumFlows)
}

// validate returns why a spec can't be carried out, and compiles its expressions. It doesn't read JobTemplates: a pass validates what
// depends on one.
func (g *Graph) validate(flow *v1alpha1.JobFlow) []Problem {
	var problems []Problem
	report := func(node string, errs ...*field.Error) {
		for _, err := range errs {
			problems = append(problems, Problem{node, err})
		}
	}
	if n := len(flow.Spec.Flows); n > maxNodes {
		report("", field.TooMany(field.NewPath("spec", "flows"), n, maxNodes))
	}
	if n := len(flow.Spec.Finally); n > maxFinally {
		report("", field.TooMany(field.NewPath("spec", "finally"), n, maxFinally))
	}
	if len(problems) > 0 {
		return problems // compiling more could take too long
	}
	report("", podtemplate.ValidateGlobals(&flow.Spec.GlobalParams, field.NewPath("spec", "globalParams"))...)
	if len(flow.Spec.Flows) == 0 {
		report("", field.Required(field.NewPath("spec", "flows"), "at least one flow is needed"))
	}
	if err := validateJobs(&flow.Spec); err != nil {
		report("", err)
	}
	report("", g.compileSuccess(&flow.Spec)...)
	given := make([]int32, g.NumFlows) // by dependency: 1 + the last node that named it
	for i := 0; i < len(g.Names) && len(problems) < maxProblems; i++ {
		report(g.Names[i], g.validateName(flow, i)...)
		report(g.Names[i], g.validateDependencies(&flow.Spec, i, given)...)
		report(g.Names[i], g.validateTemplate(&flow.Spec, i)...)
		report(g.Names[i], g.validateInputs(&flow.Spec, i)...)
	}
	if cycle := g.cycle(); cycle != nil {
		text := graph.DescribeCycle(cycle, func(i int32) string { return g.Names[i] })
		report(g.Names[cycle[0]], field.Invalid(g.Path(int(cycle[0])).Child("dependencies"), text, "the dependencies form a cycle"))
	}
	return problems
}

// validateJobs refuses a spec that could create more than maxJobs Jobs.
func validateJobs(spec *v1alpha1.JobFlowSpec) *field.Error {
	jobs := 0
	for i := range len(spec.Flows) + len(spec.Finally) {
		switch each := Node(spec, i).ForEach; {
		case each == nil:
			jobs++
		case each.FromOutput != "":
			jobs += MaxItems
		default:
			jobs += len(each.Items)
		}
	}
	if jobs <= maxJobs {
		return nil
	}
	return field.Forbidden(field.NewPath("spec", "flows"), fmt.Sprintf(
		"there may be %d Jobs, more than %d: forEach.fromOutput counts as %d each", jobs, maxJobs, MaxItems))
}

// validateName refuses a name that no Job can have, or under which another node has a Job or may come to have one.
func (g *Graph) validateName(flow *v1alpha1.JobFlow, i int) field.ErrorList {
	var errs field.ErrorList
	name, path := g.Names[i], func() *field.Path { return g.Path(i).Child("name") }
	if !isLabel(name) {
		for _, detail := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(path(), name, detail))
		}
	}
	if g.Index[name] != int32(i) {
		return append(errs, field.Duplicate(path(), name))
	}
	if g.ByJobName[g.JobNames[i]] != int32(i) { // a name that spells out another's hash
		errs = append(errs, field.Invalid(path(), name, "another flow's Job is called "+g.JobNames[i]+" too"))
	}
	has := func(name string) bool { _, ok := g.Index[name]; return ok }
	isForEach := func(name string) bool { return has(name) && Node(&flow.Spec, int(g.Index[name])).ForEach != nil }
	if other := namesakeOf(name, has, isForEach); other != "" {
		errs = append(errs, field.Invalid(path(), name,
			fmt.Sprintf("a Job of flow %q, of an item or a retry, would be called the same", other)))
	}
	return errs
}

// isLabel reports whether a name is a DNS label. It is faster than the regular expression of IsDNS1123Label.
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

// validateDependencies validates the dependencies of one node. given has, by node, 1 + the node that last depended on it.
func (g *Graph) validateDependencies(spec *v1alpha1.JobFlowSpec, i int, given []int32) field.ErrorList {
	var errs field.ErrorList
	names := Node(spec, i).Dependencies
	if i >= g.NumFlows {
		if len(names) > 0 {
			errs = append(errs, field.Forbidden(g.Path(i).Child("dependencies"),
				"flows in finally start when all others have ended and can't have dependencies"))
		}
		return errs
	}
	for j, name := range names {
		d, known := g.Index[name]
		at := func() *field.Path { return g.Path(i).Child("dependencies").Index(j) }
		switch {
		case known && int(d) == i, !known && name == g.Names[i]:
			errs = append(errs, field.Invalid(at(), name, "a flow can't depend on itself"))
		case !known:
			errs = append(errs, field.NotFound(at(), name))
		case int(d) >= g.NumFlows:
			errs = append(errs, field.Invalid(at(), name, "it is in finally, which runs when all flows have ended"))
		case given[d] == int32(i+1):
			errs = append(errs, field.Duplicate(at(), name))
		default:
			given[d] = int32(i + 1)
		}
	}
	return errs
}
