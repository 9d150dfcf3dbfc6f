package builder

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// unblock deletes the pods for which StatefulSets of the phases wait for ever. With podManagementPolicy OrderedReady, the
// default, the StatefulSet controller replaces no pod while one isn't ready, also if that one is of a revision that nobody
// desires any more (kubernetes.io: "Forced rollback"). Such a pod is deleted if it is not ready and of neither the update
// nor the current revision. One of the current revision, which a StatefulSet completes also with pods that were ready for a
// moment only, is deleted if it keeps crashing, and while rolling back if it isn't ready. Pods are listed only if the
// StatefulSet's status tells of abandoned ones, if it has stayed the same for a while, or while rolling back. Without
// the permissions to list and delete pods, the conditions say what to do.
func (r *rollout) unblock(ctx context.Context, back bool) error {
	for i := range r.result.NotReady {
		n := &r.result.NotReady[i]
		set, err := r.waitingSet(ctx, n)
		if err != nil {
			return err
		}
		if set == nil || set.Status.UpdatedReplicas >= set.Status.Replicas || set.Status.ReadyReplicas >= set.Status.Replicas {
			continue
		}
		abandoned := abandonedPods(set, back) > 0
		if !back && !abandoned && !r.isLookDue(set) {
			continue
		}
		pods, err := r.blockingPods(ctx, set, back)
		if err != nil {
			return err
		}
		switch {
		case len(pods) > 0:
			r.lookAgain(set)
		case pods != nil, !abandoned: // what is under way may well be as it should
			continue
		default:
			n.advise("pods of an abandoned revision are in its way, and may not be listed: if it stays so, "+
				"delete those that aren't ready of kubectl -n %s get pods -l '%s'", set.Namespace, selectAbandoned(set, back))
			continue
		}
		if err := r.deletePods(ctx, set, n, pods); err != nil {
			return err
		}
	}
	return nil
}

// advise adds to why a child isn't ready what someone has to do about it.
func (n *NotReady) advise(format string, args ...any) {
	n.advice = shorten(fmt.Sprintf(format, args...), 2*maxWhy)
	n.Message += "; " + n.advice
}

// selectAbandoned selects the pods of revisions that a StatefulSet is not to have. Those without a revision are no one's.
func selectAbandoned(set *appsv1.StatefulSet, back bool) string {
	kept := set.Status.UpdateRevision
	if current := set.Status.CurrentRevision; !back && current != "" && current != kept {
		kept += "," + current
	}
	const label = appsv1.ControllerRevisionHashLabelKey
	return fmt.Sprintf("%s,%s,%s notin (%s)", metav1.FormatLabelSelector(set.Spec.Selector), label, label, kept)
}

// waitingSet returns the StatefulSet that isn't ready, as far as its controller has observed what is desired and goes
// by the order of its pods; else nil.
func (r *rollout) waitingSet(ctx context.Context, n *NotReady) (*appsv1.StatefulSet, error) {
	if n.Phase == "" || n.Key.GroupKind() != appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind() {
		return nil, nil
	}
	if slices.ContainsFunc(r.result.Changes, func(c Change) bool { return c.Key == n.Key }) {
		return nil, nil // it was written in this pass: its status is of before
	}
	obj := r.seen[n.Key]
	if obj == nil { // the kind isn't indexed
		var err error
		if obj, err = r.engine.read(ctx, r.engine.client, kind{gvk: n.Key.GroupKind().WithVersion("v1")}, n.Key); err != nil {
			return nil, err
		}
	}
	set, ok := obj.(*appsv1.StatefulSet)
	if u, untyped := obj.(*unstructured.Unstructured); untyped {
		set = &appsv1.StatefulSet{}
		ok = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set) == nil
	}
	if !ok || !waitsInOrder(set) {
		return nil, nil
	}
	return set, nil
}

// waitsInOrder reports whether a StatefulSet's controller waits for each pod before it replaces the next.
func waitsInOrder(set *appsv1.StatefulSet) bool {
	switch {
	case set.DeletionTimestamp != nil, set.Status.ObservedGeneration != set.Generation, set.Status.UpdateRevision == "":
		return false
	case set.Spec.PodManagementPolicy != "" && set.Spec.PodManagementPolicy != appsv1.OrderedReadyPodManagement:
		return false
	case set.Spec.UpdateStrategy.Type != "" && set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateStatefulSetStrategyType:
		return false
	default:
		return true
	}
}

// abandonedPods counts a StatefulSet's pods that are of none of the revisions that it is to have.
func abandonedPods(set *appsv1.StatefulSet, back bool) int32 {
	s := &set.Status
	kept := s.UpdatedReplicas
	if s.CurrentRevision != s.UpdateRevision && !back {
		kept += s.CurrentReplicas
	}
	return s.Replicas - kept
}

// blockingPods returns the pods for which a StatefulSet waits without end; nil if pods can't be listed. They are read past the
// cache: an operator that has no other use for pods needs no cache of them.
func (r *rollout) blockingPods(ctx context.Context, set *appsv1.StatefulSet, back bool) ([]*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil || !r.engine.readsLive {
		return nil, nil
	}
	var list corev1.PodList
	err = r.engine.live.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if apierrors.IsForbidden(err) || runtime.IsNotRegisteredError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", set.Name, err)
	}
	blocking := []*corev1.Pod{}
	for i := range list.Items {
		pod := &list.Items[i]
		hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		switch {
		case !metav1.IsControlledBy(pod, set), pod.DeletionTimestamp != nil, isPodReady(pod):
		case hash == "", hash == set.Status.UpdateRevision:
		case !back && hash == set.Status.CurrentRevision && readiness.Of(pod).State != readiness.Failed:
		case isBelowPartition(set, pod):
		default:
			blocking = append(blocking, pod)
		}
	}
	return blocking, nil
}

// isBelowPartition reports whether a pod is one of those that keep their revision.
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

func isPodReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// deletePods deletes pods, if they are still those that were observed. A pod that someone else changed is for the next
// pass, which comes with the StatefulSet's status.
func (r *rollout) deletePods(ctx context.Context, set *appsv1.StatefulSet, n *NotReady, pods []*corev1.Pod) error {
	var left []string
	for _, pod := range pods {
		gvk := corev1.SchemeGroupVersion.WithKind("Pod")
		object := &metav1.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta} // no cache of pods is to be waited for
		object.SetGroupVersionKind(gvk)
		deleted, err := r.engine.delete(ctx, store.KeyOf(gvk, pod.Namespace, pod.Name), object)
		switch {
		case apierrors.IsForbidden(err):
			left = append(left, pod.Name)
		case apierrors.IsConflict(err):
		case err != nil:
			return err
		case deleted:
			r.engine.emit(r.owner, events.Normal(events.ReasonDeleted, fmt.Sprintf(
				"deleted Pod %s: it is of the abandoned revision %s and not ready, and StatefulSet %s would wait for it for ever",
				pod.Name, pod.Labels[appsv1.ControllerRevisionHashLabelKey], set.Name)))
		}
	}
	if len(left) > 0 {
		n.advise("pods of an abandoned revision that aren't ready are in its way: run kubectl -n %s delete pod %s", set.Namespace, strings.Join(left, " "))
	}
	return nil
}
