package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/buildertest/internal/defaults"
	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// withinQuota returns the changes without creations of pods that the API server would refuse because of a ResourceQuota. Their
// controller waits until another pod no longer counts. It regards each pod alone: of pods that don't fit together, the first step wins.
func withinQuota(s *State, changes []Change) []Change {
	quotas := All[*corev1.ResourceQuota](s)
	if len(quotas) == 0 {
		return changes
	}
	pods := All[*corev1.Pod](s)
	return slices.DeleteFunc(changes, func(c Change) bool {
		pod, ok := c.Object.(*corev1.Pod)
		if !ok || c.Verb != VerbCreate {
			return false
		}
		pod = changed(pod, func(p *corev1.Pod) { defaults.Set(p) })
		if rules.RefusedByQuota(quotas, pods, pod, s.Now) == "" {
			return false
		}
		for _, p := range pods {
			if at, found := rules.ReleasesQuota(p); found && p.Namespace == pod.Namespace {
				s.Due(at)
			}
		}
		return true
	})
}

// hasQuota reports whether a namespace has a ResourceQuota, for whose rest its workloads compete.
func hasQuota(s *State, namespace string) bool {
	return slices.ContainsFunc(All[*corev1.ResourceQuota](s), func(q *corev1.ResourceQuota) bool { return q.Namespace == namespace })
}
