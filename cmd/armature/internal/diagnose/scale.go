package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scaledToZero: its spec asks for no pods.
func scaledToZero(s subject) *Finding {
	if s.is("ReplicaJob") {
		return noReplicas(s)
	}
	if s.job != nil && s.job.Spec.Parallelism != nil && *s.job.Spec.Parallelism == 0 && !s.HasEnded() {
		found := blocked("NoParallelism", "it creates no pods: spec.parallelism is 0")
		if s.parent != nil && s.parent.isOurs() {
			return found.do("raise jobTemplate.parallelism in the spec of %s, and run it again", typed(s.parent))
		}
		patch := fmt.Sprintf("kubectl patch %s%s -p '{\"spec\":{\"parallelism\":1}}'", typed(s.Object), s.flagN())
		return found.do("%s", s.toChange(patch, "spec", "parallelism"))
	}
	n, set, _ := nestedNumber(s.Object, "spec", "replicas")
	if s.is("Deployment", "StatefulSet") && set && n == 0 {
		return blocked("NoReplicas", "it is scaled to 0: spec.replicas is 0").
			do("%s", s.toChange(fmt.Sprintf("kubectl scale %s%s --replicas=1", typed(s.Object), s.flagN()), "spec", "replicas"))
	}
	if s.is("Deployment") && s.flag("spec", "paused") && len(s.Owned) == 0 {
		return blocked("Paused", "it is paused: spec.paused is true, so changes are not rolled out").
			do("%s", s.toChange(fmt.Sprintf("kubectl rollout resume %s%s", typed(s.Object), s.flagN()), "spec", "paused"))
	}
	return nil
}

// noReplicas: each type of a ReplicaJob has 0 replicas.
func noReplicas(s subject) *Finding {
	types, _, _ := unstructured.NestedMap(s.Object.Object, "spec", "replicaSpecs")
	var empty []string
	for name := range types {
		if n, set, _ := nestedNumber(s.Object, "spec", "replicaSpecs", name, "replicas"); set && n == 0 {
			empty = append(empty, name)
		}
	}
	if len(empty) == 0 || len(empty) < len(types) || s.HasEnded() {
		return nil
	}
	slices.Sort(empty)
	return blocked("NoReplicas", "it has no replicas: replicas is 0 in spec.replicaSpecs.%s", strings.Join(empty, " and spec.replicaSpecs.")).
		do("raise the replicas of a type: %s",
			s.toChange(fmt.Sprintf("kubectl edit %s%s", typed(s.Object), s.flagN()), "spec", "replicaSpecs", empty[0], "replicas"))
}
