package daemonjob

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/builder"
)

// start returns the Jobs to create now: those of as many pending nodes as parallelism allows.
func (p *pass) start(o *observed) []builder.Child {
	free := o.desired()
	if limit := p.job.Spec.Parallelism; limit != nil {
		free = shareOf(limit, o.desired()) - o.active()
	}
	var children []builder.Child
	for _, node := range o.pending[:max(0, min(free, len(o.pending)))] {
		children = append(children, builder.Want(onNode(o.template, p.job, node), builder.CreateOnly()))
	}
	return children
}

// shareOf returns a number of nodes or a percentage of all nodes as a number: rounded up, and at least 1.
func shareOf(share *intstr.IntOrString, nodes int) int {
	n, _ := intstr.GetScaledValueFromIntOrPercent(share, nodes, true) // validateShare has accepted it
	return max(1, n)
}

// validateShare returns an error if a field is neither a number of nodes nor a percentage.
func validateShare(share *intstr.IntOrString, path *field.Path) field.ErrorList {
	if share == nil {
		return nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(share, 100, true)
	if err != nil || n < 1 || (share.Type == intstr.String && n > 100) {
		return field.ErrorList{field.Invalid(path, share.String(), "must be a number of nodes, at least 1, or a percentage from 1% to 100%")}
	}
	return nil
}
