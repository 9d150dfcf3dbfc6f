package world

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-dev/armature/builder/buildertest/internal/defaults"
	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// withinQuota returns the changes without creations of pods that the API server would refuse because of a ResourceQuota, and its error for
// the first one; empty if there is none. Their controller waits until another pod no longer counts. It regards each pod alone: of pods that
// don't fit together, the first step wins.
func withinQuota(s *State, changes []Change) (admitted []Change, refusal string) {
	quotas := All[*corev1.ResourceQuota](s)
	if len(quotas) == 0 {
		return changes, ""
	}
	pods := All[*corev1.Pod](s)
	uses := rules.NewQuotas(quotas, pods, s.Now)
	admitted = slices.DeleteFunc(changes, func(c Change) bool {
		pod, ok := c.Object.(*corev1.Pod)
		if !ok || c.Verb != VerbCreate {
			return false
		}
		pod = changed(pod, func(p *corev1.Pod) { defaults.Set(p) })
		message := uses.Refuse(pod)
		if message == "" {
			return false
		}
		if refusal == "" {
			refusal = apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, errors.New(message)).Error()
		}
		for _, p := range pods {
			if at, found := rules.ReleasesQuota(p); found && p.Namespace == pod.Namespace {
				s.Due(at)
			}
		}
		return true
	})
	return admitted, refusal
}

// hasQuota reports whether a namespace has a ResourceQuota, for whose rest its workloads compete.
func hasQuota(s *State, namespace string) bool {
	return slices.ContainsFunc(All[*corev1.ResourceQuota](s), func(q *corev1.ResourceQuota) bool { return q.Namespace == namespace })
}
