package dsoi

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
)

// requested returns how much storage a claim asks for.
func requested(c *corev1.PersistentVolumeClaimSpec) resource.Quantity {
	return c.Resources.Requests[corev1.ResourceStorage]
}

// withRequest returns a claim's spec that asks for another amount.
func withRequest(spec *corev1.PersistentVolumeClaimSpec, size resource.Quantity) corev1.PersistentVolumeClaimSpec {
	spec = spec.DeepCopy()
	spec.Resources.Requests[corev1.ResourceStorage] = size
	return *spec
}

// keepTemplates returns a StatefulSet with the sizes that its claim templates have already: they can't be changed. The
// claims themselves can grow, see growClaims.
func keepTemplates(wanted, found *appsv1.StatefulSet) *appsv1.StatefulSet {
	if found == nil {
		return wanted
	}
	sizes := map[string]resource.Quantity{}
	for i := range found.Spec.VolumeClaimTemplates {
		t := &found.Spec.VolumeClaimTemplates[i]
		sizes[t.Name] = requested(&t.Spec)
	}
	kept := wanted
	for i := range wanted.Spec.VolumeClaimTemplates {
		t := &wanted.Spec.VolumeClaimTemplates[i]
		size, ok := sizes[t.Name]
		if !ok || size.Cmp(requested(&t.Spec)) == 0 {
			continue
		}
		if kept == wanted {
			kept = wanted.DeepCopy()
		}
		kept.Spec.VolumeClaimTemplates[i].Spec = withRequest(&t.Spec, size)
	}
	return kept
}

// canGrow reports whether a claim may ask for more: the API server refuses that until it is bound.
func canGrow(c *corev1.PersistentVolumeClaim) bool {
	return c.Status.Phase == corev1.ClaimBound && c.DeletionTimestamp == nil
}

// growClaims lets the claims of a StatefulSet's pods ask for as much as the spec says, if that is more. Whether they get
// it is their storage class's matter.
func growClaims(n *renderedNode, claims []*corev1.PersistentVolumeClaim) []builder.Edit {
	var edits []builder.Edit
	for _, s := range n.node.K8s.StorageConfig {
		size := requested(&s.Spec)
		for _, c := range claims {
			if !isSetClaim(c, n.node.Workload, s.Name) || !canGrow(c) || size.Cmp(requested(&c.Spec)) <= 0 {
				continue
			}
			after := c.DeepCopy()
			after.Spec = withRequest(&c.Spec, size)
			edits = append(edits, builder.Edit{Before: c, After: after, Foreign: true})
		}
	}
	return edits
}

// isSetClaim reports whether a claim is that of a StatefulSet's pod.
func isSetClaim(c *corev1.PersistentVolumeClaim, workload, storage string) bool {
	index, ok := strings.CutPrefix(c.Name, storage+"-"+workload+"-")
	_, err := strconv.ParseUint(index, 10, 31)
	return ok && err == nil && c.Annotations[AnnotationStorage] == storage
}

// sharedClaim is a claim that all pods of a node share. It never asks for less than it has: that can't be, and it may
// have been scaled. It asks for more once it can grow: a refused claim would hold up all node types.
func sharedClaim(n *renderedNode, wanted, found *corev1.PersistentVolumeClaim) builder.Child {
	if found != nil {
		size := requested(&found.Spec)
		if more := size.Cmp(requested(&wanted.Spec)); more > 0 || (more < 0 && !canGrow(found)) {
			wanted = wanted.DeepCopy()
			wanted.Spec = withRequest(&wanted.Spec, size)
		}
	}
	switch {
	case n.node.Reclaim != v1beta1.ReclaimDelete:
		return builder.Want(wanted, builder.Retain())
	case found != nil: // it was let go of when its data was to be retained; one that others have labelled is not the node's
		return builder.Want(wanted, builder.Adopt(builder.AdoptOptions{Labels: map[string]string{
			LabelCluster: wanted.Labels[LabelCluster], LabelNode: wanted.Labels[LabelNode],
		}}))
	default:
		return builder.Want(wanted)
	}
}
