package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// validateTemplate validates a node's template or its reference, and the list of its items.
func (g *Graph) validateTemplate(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	var errs field.ErrorList
	node := Node(spec, i)
	switch {
	case node.JobTemplate == nil && node.JobTemplateRef == "":
		errs = append(errs, field.Required(g.Path(i).Child("jobTemplate"), "one of jobTemplate and jobTemplateRef must be set"))
	case node.JobTemplate != nil && node.JobTemplateRef != "":
		errs = append(errs, field.Forbidden(g.Path(i).Child("jobTemplateRef"), "only one of jobTemplate and jobTemplateRef may be set"))
	case node.JobTemplate != nil:
		path := g.Path(i).Child("jobTemplate", "template")
		errs = append(errs, podtemplate.ValidateWith(&spec.GlobalParams, &node.JobTemplate.Template, path)...)
		for j, mount := range node.ShareVolumeMounts {
			if !podtemplate.HasVolume(spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(node.JobTemplate.Template.Spec.Volumes, mount.Name) {
				errs = append(errs, field.NotFound(g.Path(i).Child("shareVolumeMounts").Index(j).Child("name"), mount.Name))
			}
		}
	}
	if each := node.ForEach; each != nil {
		path := g.Path(i).Child("forEach")
		switch {
		case each.Items == nil && each.FromOutput == "":
			errs = append(errs, field.Required(path.Child("items"), "one of items and fromOutput must be set"))
		case each.Items != nil && each.FromOutput != "":
			errs = append(errs, field.Forbidden(path.Child("fromOutput"), "only one of items and fromOutput may be set"))
		case len(each.Items) > MaxItems:
			errs = append(errs, field.TooMany(path.Child("items"), len(each.Items), MaxItems))
		}
	}
	return errs
}

// validateInputs validates what a node reads of others, which must have ended before it. It compiles the node's expression, and adds to
// OutputUses.
func (g *Graph) validateInputs(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	var errs field.ErrorList
	node := Node(spec, i)
	use := func(name string, path *field.Path) {
		d, ok := g.before(i, name)
		switch {
		case !ok && i < g.NumFlows:
			errs = append(errs, field.Invalid(path, name, "it isn't among the flow's dependencies"))
		case !ok:
			errs = append(errs, field.NotFound(path, name))
		case Node(spec, d).ForEach != nil:
			errs = append(errs, field.Invalid(path, name, "it has forEach, and so no output"))
		default:
			g.OutputUses = append(g.OutputUses, OutputUse{int32(d), int32(i)})
		}
	}
	if each := node.ForEach; each != nil && each.FromOutput != "" {
		use(each.FromOutput, g.Path(i).Child("forEach", "fromOutput"))
	}
	for j := range node.Inputs {
		input, path := &node.Inputs[j], g.Path(i).Child("inputs").Index(j)
		for _, detail := range validation.IsEnvVarName(input.Env) {
			errs = append(errs, field.Invalid(path.Child("env"), input.Env, detail))
		}
		if slices.ContainsFunc(node.Inputs[:j], func(other v1alpha1.Input) bool { return other.Env == input.Env }) {
			errs = append(errs, field.Duplicate(path.Child("env"), input.Env))
		}
		use(input.From, path.Child("from"))
	}
	if node.When != "" {
		errs = append(errs, g.compileWhen(spec, i)...)
	}
	return errs
}

// before returns the node of a name, if it has always ended when node i is decided: a dependency, or for finally any node of spec.flows.
func (g *Graph) before(i int, name string) (int, bool) {
	d, ok := g.Index[name]
	if !ok || int(d) >= g.NumFlows {
		return 0, false
	}
	return int(d), i >= g.NumFlows || slices.Contains(g.Dependencies(i), d)
}
