package stuck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder/readiness"
)

// WaitsInOrder reports whether a StatefulSet's controller has observed the desired spec, has not finished the roll-out, and waits for
// each pod before it replaces the next.
func WaitsInOrder(set *appsv1.StatefulSet) bool {
	switch {
	case set.DeletionTimestamp != nil, set.Status.ObservedGeneration != set.Generation, set.Status.UpdateRevision == "":
		return false
	case set.Spec.PodManagementPolicy != "" && set.Spec.PodManagementPolicy != appsv1.OrderedReadyPodManagement:
		return false
	case set.Spec.UpdateStrategy.Type != "" && set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType:
		return false
	default:
		return set.Status.UpdatedReplicas < set.Status.Replicas && set.Status.ReadyReplicas < set.Status.Replicas
	}
}

// Abandoned counts a StatefulSet's pods of undesired revisions. With back, during a rollback, only the update revision is desired.
func Abandoned(set *appsv1.StatefulSet, back bool) int32 {
	s := &set.Status
	kept := s.UpdatedReplicas
	if s.CurrentRevision != s.UpdateRevision && !back {
		kept += s.CurrentReplicas
	}
	return s.Replicas - kept
}

// Selector selects the pods of undesired revisions, in the form of kubectl get pods -l. It doesn't select pods without a revision.
func Selector(set *appsv1.StatefulSet, back bool) string {
	kept := set.Status.UpdateRevision
	if current := set.Status.CurrentRevision; !back && current != "" && current != kept {
		kept += "," + current
	}
	const label = appsv1.ControllerRevisionHashLabelKey
	return fmt.Sprintf("%s,%s,%s notin (%s)", metav1.FormatLabelSelector(set.Spec.Selector), label, label, kept)
}

// Blocking returns the pods for which a StatefulSet waits forever.
func Blocking(set *appsv1.StatefulSet, pods []corev1.Pod, back bool) []*corev1.Pod {
	var blocking []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		switch {
		case !metav1.IsControlledBy(pod, set), pod.DeletionTimestamp != nil, isReady(pod):
		case hash == "", hash == set.Status.UpdateRevision:
		case !back && hash == set.Status.CurrentRevision && !readiness.Of(pod).Failed:
		case isBelowPartition(set, pod):
		default:
			blocking = append(blocking, pod)
		}
	}
	return blocking
}

// isBelowPartition reports whether a pod keeps its revision because of the partition.
func isBelowPartition(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	if set.Spec.UpdateStrategy.RollingUpdate == nil {
		return false
	}
	first := int32(0)
	if set.Spec.Ordinals != nil {
		first = set.Spec.Ordinals.Start
	}
	ordinal, err := strconv.Atoi(pod.Name[strings.LastIndexByte(pod.Name, '-')+1:])
	return err != nil || int32(ordinal) < first+ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
