package stuck

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// StatefulSet is the kind whose pods can be stuck.
var StatefulSet = appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind()

// Unblocker deletes the pods for which StatefulSets wait without end.
type Unblocker struct {
	// Live lists pods past the cache: an operator that has no other use for pods needs no cache of them.
	Live client.Reader
	// Watch says when pods are listed whose StatefulSet counts no abandoned ones. Nil: Live doesn't read past the cache, and pods are
	// never listed.
	Watch *Watch
	// DryRun lists at once and leaves Watch as it is.
	DryRun bool
	Now    time.Time
	// Delete deletes an object, if it is still the observed one. It reports false if there was none.
	Delete func(ctx context.Context, key store.Key, observed client.Object) (bool, error)
}

// Unblocked is what became of the pods of one StatefulSet.
type Unblocked struct {
	Deleted []*corev1.Pod
	Advice  string        // what someone has to do, for want of permissions; empty if nothing
	Wait    time.Duration // when to look again; 0 for when something changes
}

// Waiting returns the StatefulSet that an object is, if its controller waits for pods in their order, else nil.
func Waiting(obj client.Object) *appsv1.StatefulSet {
	set, ok := obj.(*appsv1.StatefulSet)
	if u, untyped := obj.(*unstructured.Unstructured); untyped {
		set = &appsv1.StatefulSet{}
		ok = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set) == nil
	}
	if !ok || !WaitsInOrder(set) {
		return nil
	}
	return set
}

// Unblock deletes the pods for which a StatefulSet waits without end. Pods are listed only if the StatefulSet's status counts
// abandoned ones, if it has stayed the same for a while, or with back, while rolling back. The result is valid also beside an error.
func (u Unblocker) Unblock(ctx context.Context, set *appsv1.StatefulSet, back bool) (result Unblocked, err error) {
	abandoned := Abandoned(set, back) > 0
	if !back && !abandoned {
		var due bool
		if due, result.Wait = u.isDue(set); !due {
			return result, nil
		}
	}
	pods, listed, err := u.list(ctx, set)
	if err != nil {
		return result, err
	}
	if !listed {
		if abandoned {
			result.Advice = fmt.Sprintf("pods of an abandoned revision are in its way, and may not be listed: if it stays so, "+
				"delete those that aren't ready of kubectl -n %s get pods -l '%s'", set.Namespace, Selector(set, back))
		}
		return result, nil
	}
	blocking := Blocking(set, pods, back)
	if len(blocking) == 0 {
		return result, nil // what is under way may well be as it should
	}
	if !u.DryRun {
		u.Watch.Again(set, u.Now)
	}
	err = u.delete(ctx, set, blocking, &result)
	return result, err
}

// isDue reports whether the pods of a StatefulSet whose status counts no abandoned ones are to be listed, and when to ask again.
func (u Unblocker) isDue(set *appsv1.StatefulSet) (due bool, wait time.Duration) {
	if u.Watch == nil || u.DryRun {
		return u.DryRun, 0
	}
	return u.Watch.IsDue(set, u.Now)
}

// list returns the pods that a StatefulSet selects; listed is false if that isn't possible.
func (u Unblocker) list(ctx context.Context, set *appsv1.StatefulSet) (pods []corev1.Pod, listed bool, err error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil || u.Watch == nil {
		return nil, false, nil
	}
	var list corev1.PodList
	err = u.Live.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if apierrors.IsForbidden(err) || runtime.IsNotRegisteredError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("list the pods of %s: %w", set.Name, err)
	}
	return list.Items, true, nil
}

// delete deletes pods, if they are still those that were observed. A pod that someone else changed is for the next
// pass, which comes with the StatefulSet's status.
func (u Unblocker) delete(ctx context.Context, set *appsv1.StatefulSet, pods []*corev1.Pod, result *Unblocked) error {
	var left []string
	for _, pod := range pods {
		gvk := corev1.SchemeGroupVersion.WithKind("Pod")
		object := &metav1.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta} // no cache of pods is to be waited for
		object.SetGroupVersionKind(gvk)
		deleted, err := u.Delete(ctx, store.KeyOf(gvk, pod.Namespace, pod.Name), object)
		switch {
		case apierrors.IsForbidden(err):
			left = append(left, pod.Name)
		case apierrors.IsConflict(err):
		case err != nil:
			return err
		case deleted:
			result.Deleted = append(result.Deleted, pod)
		}
	}
	if len(left) > 0 {
		result.Advice = fmt.Sprintf("pods of an abandoned revision that aren't ready are in its way: run kubectl -n %s delete pod %s",
			set.Namespace, strings.Join(left, " "))
	}
	return nil
}
