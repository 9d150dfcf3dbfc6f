package diagnose

// scaledToZero: it wants no pods.
func scaledToZero(s scene) *Finding {
	n, set, _ := nestedNumber(s.Object, "spec", "replicas")
	if s.is("Deployment", "StatefulSet") && set && n == 0 {
		return blocked("NoReplicas", "it is scaled to 0: spec.replicas is 0").
			do("kubectl scale %s -n %s --replicas=1", typed(s.Object), s.GetNamespace())
	}
	if s.is("Deployment") && s.flag("spec", "paused") && len(s.Owned) == 0 {
		return blocked("Paused", "it is paused: spec.paused is true, so nothing new is rolled out").
			do("kubectl rollout resume %s -n %s", typed(s.Object), s.GetNamespace())
	}
	return nil
}
