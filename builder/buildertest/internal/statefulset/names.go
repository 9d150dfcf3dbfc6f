// Package statefulset has the names that the controller of StatefulSets gives to pods and claims.
package statefulset

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// OrdinalOf returns the ordinal in the name of a set's pod; -1 if the name isn't that of one.
func OrdinalOf(set, pod string) int {
	number, found := strings.CutPrefix(pod, set+"-")
	ordinal, err := strconv.ParseUint(number, 10, 31)
	if !found || err != nil {
		return -1
	}
	return int(ordinal)
}

// IsClaim reports whether a claim has a name for which a set's controller creates one.
func IsClaim(set *appsv1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
	return set.Namespace == claim.Namespace && slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool {
		return OrdinalOf(t.Name+"-"+set.Name, claim.Name) >= 0
	})
}
