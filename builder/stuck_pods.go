package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/stuck"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// unblock deletes the pods for which StatefulSets of the phases wait without end; see package stuck. Pods are listed only if the
// StatefulSet's status counts abandoned ones, if it has stayed the same for a while, or while rolling back. Without the permissions to
// list and delete pods, the conditions say what to do.
func (r *rollout) unblock(ctx context.Context, back bool) error {
	for i := range r.result.NotReady {
		n := &r.result.NotReady[i]
		set, err := r.waitingSet(ctx, n)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		abandoned := stuck.Abandoned(set, back) > 0
		if !back && !abandoned && !r.isListDue(set) {
			continue
		}
		pods, listed, err := r.podsOf(ctx, set)
		if err != nil {
			return err
		}
		if !listed {
			if abandoned {
				n.advise("pods of an abandoned revision are in its way, and may not be listed: if it stays so, "+
					"delete those that aren't ready of kubectl -n %s get pods -l '%s'", set.Namespace, stuck.Selector(set, back))
			}
			continue
		}
		blocking := stuck.Blocking(set, pods, back)
		if len(blocking) == 0 {
			continue // what is under way may well be as it should
		}
		if !r.engine.dry {
			r.engine.memory.Stuck.Again(set, r.engine.now())
		}
		if err := r.deletePods(ctx, set, n, blocking); err != nil {
			return err
		}
	}
	return nil
}

// isListDue reports whether the pods of a StatefulSet whose status counts no abandoned ones are to be listed.
func (r *rollout) isListDue(set *appsv1.StatefulSet) bool {
	if !r.engine.readsLive || r.engine.dry {
		return r.engine.dry
	}
	due, wait := r.engine.memory.Stuck.IsDue(set, r.engine.now())
	r.result.RequeueAfter = sooner(r.result.RequeueAfter, wait)
	return due
}

// advise adds to why a child isn't ready what someone has to do about it.
func (n *ChildStatus) advise(format string, args ...any) {
	n.advice = shorten(fmt.Sprintf(format, args...), 2*maxWhy)
	n.Message += "; " + n.advice
}

// waitingSet returns the StatefulSet that isn't ready if its controller waits for pods in their order, else nil.
func (r *rollout) waitingSet(ctx context.Context, n *ChildStatus) (*appsv1.StatefulSet, error) {
	if n.Phase == "" || n.Key.GroupKind() != appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind() {
		return nil, nil
	}
	if slices.ContainsFunc(r.result.Changes, func(c Change) bool { return c.Key == n.Key }) {
		return nil, nil // it was written in this pass: its status is of before
	}
	obj := r.observed[n.Key]
	if obj == nil { // the kind isn't indexed
		var err error
		if obj, err = r.engine.read(ctx, r.engine.client, kinds.Kind{GVK: n.Key.GroupKind().WithVersion("v1")}, n.Key); err != nil {
			return nil, err
		}
	}
	set, ok := obj.(*appsv1.StatefulSet)
	if u, untyped := obj.(*unstructured.Unstructured); untyped {
		set = &appsv1.StatefulSet{}
		ok = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set) == nil
	}
	if !ok || !stuck.WaitsInOrder(set) {
		return nil, nil
	}
	return set, nil
}

// podsOf lists the pods that a StatefulSet selects; listed is false if that isn't possible. They are read past the cache: an operator
// that has no other use for pods needs no cache of them.
func (r *rollout) podsOf(ctx context.Context, set *appsv1.StatefulSet) (pods []corev1.Pod, listed bool, err error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil || !r.engine.readsLive {
		return nil, false, nil
	}
	var list corev1.PodList
	err = r.engine.live.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if apierrors.IsForbidden(err) || runtime.IsNotRegisteredError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("list the pods of %s: %w", set.Name, err)
	}
	return list.Items, true, nil
}

// deletePods deletes pods, if they are still those that were observed. A pod that someone else changed is for the next
// pass, which comes with the StatefulSet's status.
func (r *rollout) deletePods(ctx context.Context, set *appsv1.StatefulSet, n *ChildStatus, pods []*corev1.Pod) error {
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
		n.advise("pods of an abandoned revision that aren't ready are in its way: run kubectl -n %s delete pod %s",
			set.Namespace, strings.Join(left, " "))
	}
	return nil
}
