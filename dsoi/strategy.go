package dsoi

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// The kinds of workloads.
const (
	statefulSet = "StatefulSet"
	deployment  = "Deployment"
	daemonSet   = "DaemonSet"
)

// strategies are the update strategies that a kind has.
var strategies = map[string][]string{
	statefulSet: {"RollingUpdate", "OnDelete"},
	deployment:  {"RollingUpdate", "Recreate"},
	daemonSet:   {"RollingUpdate", "OnDelete"},
}

// checkStrategy says what of an update strategy a kind doesn't have.
func checkStrategy(kind string, s *v1beta1.UpdateStrategy) string {
	if s == nil || strategies[kind] == nil {
		return ""
	}
	if s.Type != "" && !slices.Contains(strategies[kind], s.Type) {
		return fmt.Sprintf("type is %q; a %s has %s", s.Type, kind, list(strategies[kind]))
	}
	r := s.RollingUpdate
	switch {
	case r == nil:
		return ""
	case s.Type != "" && s.Type != "RollingUpdate":
		return fmt.Sprintf("rollingUpdate is set, and the type is %s", s.Type)
	case r.Partition != nil && kind != statefulSet:
		return "a " + kind + " has no partition"
	case r.MaxSurge != nil && kind == statefulSet:
		return "a StatefulSet has no maxSurge"
	default:
		return ""
	}
}

func ofStatefulSet(s *v1beta1.UpdateStrategy) appsv1.StatefulSetUpdateStrategy {
	if s == nil {
		return appsv1.StatefulSetUpdateStrategy{}
	}
	strategy := appsv1.StatefulSetUpdateStrategy{Type: appsv1.StatefulSetUpdateStrategyType(s.Type)}
	if r := s.RollingUpdate; r != nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: r.Partition, MaxUnavailable: r.MaxUnavailable}
	}
	return strategy
}

func ofDaemonSet(s *v1beta1.UpdateStrategy) appsv1.DaemonSetUpdateStrategy {
	if s == nil {
		return appsv1.DaemonSetUpdateStrategy{}
	}
	strategy := appsv1.DaemonSetUpdateStrategy{Type: appsv1.DaemonSetUpdateStrategyType(s.Type)}
	if r := s.RollingUpdate; r != nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: r.MaxUnavailable, MaxSurge: r.MaxSurge}
	}
	return strategy
}

// ofDeployment says how a Deployment's pods are replaced. With a volume that only one machine can mount at a time, a new
// pod on another machine would wait for the old one, and that for the new one.
func ofDeployment(group *v1beta1.K8sConfigGroup) appsv1.DeploymentStrategy {
	s := group.UpdateStrategy
	if s == nil {
		if slices.ContainsFunc(group.StorageConfig, isExclusive) {
			return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		}
		return appsv1.DeploymentStrategy{}
	}
	strategy := appsv1.DeploymentStrategy{Type: appsv1.DeploymentStrategyType(s.Type)}
	if r := s.RollingUpdate; r != nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: r.MaxUnavailable, MaxSurge: r.MaxSurge}
	}
	return strategy
}

// isExclusive reports whether only one machine can mount a volume at a time.
func isExclusive(s v1beta1.StorageConfig) bool {
	return len(s.Spec.AccessModes) > 0 && !slices.ContainsFunc(s.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m != corev1.ReadWriteOnce && m != corev1.ReadWriteOncePod
	})
}
