package scaling

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// decideVolumes decides on the sizes of an entry's volumes.
func (p *planner) decideVolumes(e *v1beta1.NodeScaling, was v1beta1.NodeScalingStatus, is *v1beta1.NodeScalingStatus) error {
	var first error
	for i := range e.Storage {
		s := v1beta1.StorageScalingStatus{Name: e.Storage[i].Name}
		for _, old := range was.Storage {
			if old.Name == s.Name {
				s = old
			}
		}
		if err := p.decideVolume(e.Name, &e.Storage[i], &s); err != nil && first == nil {
			first = because(err.(trouble).reason, "storage %s: %s", s.Name, err) //nolint:errorlint // they are never wrapped
		}
		is.Storage = append(is.Storage, s)
	}
	return first
}

func (p *planner) decideVolume(entry string, given *v1beta1.StorageScaling, s *v1beta1.StorageScalingStatus) error {
	rule, err := readStorage(p.spec, given)
	if err != nil {
		return because(ReasonInvalidSpec, "%s", err)
	}
	what := about{entry, rule.name}
	if other := p.external.rivals[what]; other != "" {
		return because(ReasonConflict, "%s is older and scales these volumes already; take the storage out of one of them", other)
	}
	claims := p.external.claims[what]
	if len(claims) == 0 {
		// New claims start from the size in the cluster's spec, not from that to which former ones had grown.
		*s = v1beta1.StorageScalingStatus{Name: s.Name}
		return because(ReasonTargetNotFound, "the node %q has no claims of it", entry)
	}
	p.carryOut(claims, rule.max, s)
	read, ok := p.external.readings[what]
	switch {
	case !ok:
		return nil // the spec has changed since the sources were asked
	case read.err != nil:
		return because(ReasonSourceFailed, "%s", read.err)
	}
	s.Value = format(read.value)
	if read.value <= rule.threshold || !p.isNew(s.LastScaleTime) || !p.hasCooledDown(s.LastScaleTime, rule.coolDown) {
		return nil
	}
	for _, c := range claims {
		if !p.external.grows[classOf(c)] {
			return because(ReasonCannotGrow, "the claim %s is of the storage class %q, whose volumes can't grow (allowVolumeExpansion)",
				c.Name, classOf(c))
		}
	}
	current := largest(claims)
	if current.Cmp(rule.max) >= 0 {
		return because(ReasonAtMax, "the number is %s, and the volumes have grown to the max of %s", s.Value, rule.max.String())
	}
	next := decideSize(current, &rule)
	if v1beta1.Size(next.String()) == s.Size {
		return nil // the decision is on record already, and not carried out yet
	}
	s.Size, s.LastScaleTime = v1beta1.Size(next.String()), &p.now
	p.decided = true
	p.told = append(p.told, events.Normal(ReasonScaled, fmt.Sprintf("node %s: volumes %s from %s to %s: the number is %s, the threshold %s",
		entry, rule.name, current.String(), next.String(), s.Value, format(rule.threshold))))
	return nil
}

// carryOut lets claims request the size that was decided before, at most limit, if they request less: also those of pods that came
// later. The max in the spec may have been lowered since the decision.
func (p *planner) carryOut(claims []*corev1.PersistentVolumeClaim, limit resource.Quantity, s *v1beta1.StorageScalingStatus) {
	if s.Size == "" {
		return
	}
	size, err := s.Size.Parse()
	if err != nil {
		return // someone has edited the status: it is decided anew
	}
	if size.Cmp(limit) > 0 {
		size = limit
	}
	for _, c := range claims {
		has := c.Spec.Resources.Requests[corev1.ResourceStorage]
		if has.Cmp(size) >= 0 || c.Status.Phase != corev1.ClaimBound || c.DeletionTimestamp != nil || !p.external.grows[classOf(c)] {
			continue
		}
		after := c.DeepCopy()
		after.Spec.Resources.Requests[corev1.ResourceStorage] = size
		p.edits = append(p.edits, builder.Edit{Before: c, After: after, Foreign: true})
	}
}

// largest returns how much the largest of some claims asks for.
func largest(claims []*corev1.PersistentVolumeClaim) resource.Quantity {
	var most resource.Quantity
	for _, c := range claims {
		if has := c.Spec.Resources.Requests[corev1.ResourceStorage]; has.Cmp(most) > 0 {
			most = has
		}
	}
	return most
}
