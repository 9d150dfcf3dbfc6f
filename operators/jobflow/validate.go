package jobflow

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// maxListed bounds the problems, nodes or events that are told of one by one.
const maxListed = 10

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

// validate returns all that keeps a spec from being carried out. It looks at nothing but the spec; what depends on a
// JobTemplate is seen when the template is (see template).
func validate(flow *v1alpha1.JobFlow, g graph) []problem {
	var problems []problem
	report := func(node string, errs ...*field.Error) {
		for _, err := range errs {
			problems = append(problems, problem{node, err})
		}
	}
	spec := field.NewPath("spec")
	report("", validateGlobals(&flow.Spec.GlobalParams, spec.Child("globalParams"))...)

	nodes, path := flow.Spec.Flows, spec.Child("flows")
	if len(nodes) == 0 {
		report("", field.Required(path, "at least one flow is needed"))
	}
	known := make(map[string]bool, len(nodes))
	jobs := make(map[string]bool, len(nodes))
	for i := range nodes {
		name := nodes[i].Name
		job := JobName(flow.Name, name)
		switch {
		case known[name]:
			report(name, field.Duplicate(path.Index(i).Child("name"), name))
		case jobs[job]: // a name that spells out another's hash
			report(name, field.Invalid(path.Index(i).Child("name"), name, "another flow's Job is called "+job+" too"))
		}
		known[name], jobs[job] = true, true
	}
	for i := range nodes {
		report(nodes[i].Name, validateNode(flow, &nodes[i], known, path.Index(i))...)
	}
	if cycle := g.cycle(); cycle != nil {
		report(nodes[cycle[0]].Name, field.Invalid(path.Index(cycle[0]).Child("dependencies"),
			describeCycle(nodes, cycle), "the dependencies form a cycle"))
	}
	return problems
}

func validateGlobals(params *v1alpha1.GlobalParams, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(params.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(params.Annotations, path.Child("annotations"))...)
	if params.NodeName != "" {
		for _, detail := range validation.IsDNS1123Subdomain(params.NodeName) {
			errs = append(errs, field.Invalid(path.Child("nodeName"), params.NodeName, detail))
		}
	}
	return errs
}

func validateNode(flow *v1alpha1.JobFlow, node *v1alpha1.Flow, known map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range validation.IsDNS1123Label(node.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), node.Name, detail))
	}
	given := make(map[string]bool, len(node.Dependencies))
	for j, name := range node.Dependencies {
		at := path.Child("dependencies").Index(j)
		switch {
		case name == node.Name:
			errs = append(errs, field.Invalid(at, name, "a flow can't depend on itself"))
		case !known[name]:
			errs = append(errs, field.NotFound(at, name))
		case given[name]:
			errs = append(errs, field.Duplicate(at, name))
		}
		given[name] = true
	}
	switch {
	case node.JobTemplate == nil && node.JobTemplateRef == "":
		errs = append(errs, field.Required(path.Child("jobTemplate"), "one of jobTemplate and jobTemplateRef must be set"))
	case node.JobTemplate != nil && node.JobTemplateRef != "":
		errs = append(errs, field.Forbidden(path.Child("jobTemplateRef"), "only one of jobTemplate and jobTemplateRef may be set"))
	case node.JobTemplate != nil:
		for j, mount := range node.ShareVolumeMounts {
			if !podtemplate.HasVolume(flow.Spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(node.JobTemplate.Template.Spec.Volumes, mount.Name) {
				errs = append(errs, field.NotFound(path.Child("shareVolumeMounts").Index(j).Child("name"), mount.Name))
			}
		}
	}
	return errs
}

// describeCycle renders "a -> b -> a": a depends on b, which depends on a.
func describeCycle(nodes []v1alpha1.Flow, cycle []int) string {
	var names []string
	for n, i := range cycle {
		if n == maxListed {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-n))
			break
		}
		names = append(names, nodes[i].Name)
	}
	return strings.Join(append(names, nodes[cycle[0]].Name), " -> ")
}

// list joins the first few items and counts the rest.
func list[T any](items []T, describe func(T) string) string {
	var b strings.Builder
	for n, item := range items {
		if n == maxListed {
			fmt.Fprintf(&b, "; and %d more", len(items)-n)
			break
		}
		if n > 0 {
			b.WriteString("; ")
		}
		b.WriteString(describe(item))
	}
	return b.String()
}
