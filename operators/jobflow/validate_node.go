package jobflow

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// validateTemplate looks at where a node's Job comes from, and at the list of its items.
func (c *compiled) validateTemplate(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	var errs field.ErrorList
	node := nodeOf(spec, i)
	switch {
	case node.JobTemplate == nil && node.JobTemplateRef == "":
		errs = append(errs, field.Required(c.pathOf(i).Child("jobTemplate"), "one of jobTemplate and jobTemplateRef must be set"))
	case node.JobTemplate != nil && node.JobTemplateRef != "":
		errs = append(errs, field.Forbidden(c.pathOf(i).Child("jobTemplateRef"), "only one of jobTemplate and jobTemplateRef may be set"))
	case node.JobTemplate != nil:
		errs = append(errs, podtemplate.ValidateWith(&spec.GlobalParams, &node.JobTemplate.Template, c.pathOf(i).Child("jobTemplate", "template"))...)
		for j, mount := range node.ShareVolumeMounts {
			if !podtemplate.HasVolume(spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(node.JobTemplate.Template.Spec.Volumes, mount.Name) {
				errs = append(errs, field.NotFound(c.pathOf(i).Child("shareVolumeMounts").Index(j).Child("name"), mount.Name))
			}
		}
	}
	if each := node.ForEach; each != nil {
		path := c.pathOf(i).Child("forEach")
		switch {
		case each.Items == nil && each.FromOutput == "":
			errs = append(errs, field.Required(path.Child("items"), "one of items and fromOutput must be set"))
		case each.Items != nil && each.FromOutput != "":
			errs = append(errs, field.Forbidden(path.Child("fromOutput"), "only one of items and fromOutput may be set"))
		case len(each.Items) > maxItems:
			errs = append(errs, field.TooMany(path.Child("items"), len(each.Items), maxItems))
		}
	}
	return errs
}

// validateInputs looks at what a node takes from others: it must be among those that have ended before it. It compiles
// the node's expression, and notes which outputs are needed.
func (c *compiled) validateInputs(spec *v1alpha1.JobFlowSpec, i int) field.ErrorList {
	var errs field.ErrorList
	node := nodeOf(spec, i)
	take := func(name string, path *field.Path) {
		d, ok := c.before(i, name)
		switch {
		case !ok && i < c.flows:
			errs = append(errs, field.Invalid(path, name, "it isn't among the flow's dependencies"))
		case !ok:
			errs = append(errs, field.NotFound(path, name))
		case nodeOf(spec, d).ForEach != nil:
			errs = append(errs, field.Invalid(path, name, "it has forEach, and so no output"))
		default:
			c.uses = append(c.uses, use{int32(d), int32(i)})
		}
	}
	if each := node.ForEach; each != nil && each.FromOutput != "" {
		take(each.FromOutput, c.pathOf(i).Child("forEach", "fromOutput"))
	}
	for j := range node.Inputs {
		input, path := &node.Inputs[j], c.pathOf(i).Child("inputs").Index(j)
		for _, detail := range validation.IsEnvVarName(input.Env) {
			errs = append(errs, field.Invalid(path.Child("env"), input.Env, detail))
		}
		if slices.ContainsFunc(node.Inputs[:j], func(other v1alpha1.Input) bool { return other.Env == input.Env }) {
			errs = append(errs, field.Duplicate(path.Child("env"), input.Env))
		}
		take(input.From, path.Child("from"))
	}
	if node.When != "" {
		errs = append(errs, c.compileWhen(spec, i)...)
	}
	return errs
}

// before returns the node of a name, if it has always ended when a node is decided: a dependency, and for finally any flow.
func (c *compiled) before(i int, name string) (int, bool) {
	d, ok := c.index[name]
	if !ok || int(d) >= c.flows {
		return 0, false
	}
	return int(d), i >= c.flows || slices.Contains(c.dependencies(i), d)
}
