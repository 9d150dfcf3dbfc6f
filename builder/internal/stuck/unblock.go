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

// Unblocker deletes the pods for which StatefulSets wait forever.
type Unblocker struct {
	// Live lists pods past the cache, because an operator without other use for pods needs no cache of them.
	Live client.Reader
	// Watch decides when to list the pods of a StatefulSet that counts no abandoned ones. Nil: Live doesn't read past the cache, and the
	// Unblocker never lists pods.
	Watch *Watch
	// DryRun lists at once and doesn't change Watch.
	DryRun bool
	Now    time.Time
	// Delete deletes an object, only in its observed version. It returns false if the object doesn't exist.
	Delete func(ctx context.Context, key store.Key, observed client.Object) (bool, error)
}

// Unblocked is the result for the pods of one StatefulSet.
type Unblocked struct {
	Deleted []*corev1.Pod
	Advice  string        // what someone must do, without the permissions; empty: nothing
	Wait    time.Duration // the delay until the next check; 0 waits for an event
}

// Waiting returns the object as a StatefulSet if its controller waits for pods in their order, otherwise nil.
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

// Unblock deletes the pods for which a StatefulSet waits forever. It lists pods only if the StatefulSet's status counts abandoned
// ones, if the status has been the same for a while, or with back, during a rollback. The result is valid beside an error.
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
		return result, nil // the roll-out may be healthy
	}
	if !u.DryRun {
		u.Watch.Again(set, u.Now)
	}
	err = u.delete(ctx, set, blocking, &result)
	return result, err
}

// isDue reports whether to list the pods of a StatefulSet whose status counts no abandoned ones, and the delay until the next check.
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

// delete deletes pods in their observed versions. A pod that someone has changed waits for the next pass, which the StatefulSet's
// status causes.
func (u Unblocker) delete(ctx context.Context, set *appsv1.StatefulSet, pods []*corev1.Pod, result *Unblocked) error {
	var left []string
	for _, pod := range pods {
		gvk := corev1.SchemeGroupVersion.WithKind("Pod")
		object := &metav1.PartialObjectMetadata{ObjectMeta: pod.ObjectMeta} // doesn't wait for a cache of pods
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
