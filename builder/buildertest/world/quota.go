package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// withinQuota returns the changes without creations of pods that the API server would refuse, because they exceed a ResourceQuota. Their
// controller waits until another pod has ended.
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
		if rules.ExceededQuota(quotas, pods, pod) != "" {
			return true
		}
		pods = append(pods, pod)
		return false
	})
}
