//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/e2e/soakplan"
)

// awaitEnds waits until each object is as the plan says, and tells of those that are not.
func (s *soak) awaitEnds(objects []*soakplan.Object) {
	s.Helper()
	var wrong map[*soakplan.Object]error
	for deadline := time.Now().Add(patience); ; {
		wrong = map[*soakplan.Object]error{}
		for _, o := range objects {
			if err := s.endOf(o); err != nil {
				wrong[o] = err
			}
		}
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(deadline) {
			break
		}
		s.until(time.Now().Add(pollEvery))
	}
	for o, err := range wrong {
		out, _ := kubectl("get", strings.ToLower(o.Kind()), s.handle(o).GetName(), "--namespace", s.name, "-o", "yaml")
		s.Errorf("%s: %v\n%s\n%s", o, err, out, s.events(o.Made.GetName()))
	}
	s.FailNow()
}

// endOf returns how an object differs from its expected end.
func (s *soak) endOf(o *soakplan.Object) error {
	want := o.Expect
	if want.End == soakplan.NoEnd {
		return nil
	}
	object := s.handle(o)
	err := cluster.Get(s.Context(), client.ObjectKeyFromObject(object), object)
	switch {
	case apierrors.IsNotFound(err):
		if want.End == soakplan.Gone || want.Vanishes {
			return nil
		}
		return errors.New("it is gone")
	case err != nil:
		return err
	case want.End == soakplan.Gone || want.Vanishes:
		return errors.New("it is still there")
	}
	conditions := *object.(interface{ Conditions() *[]metav1.Condition }).Conditions()
	other := map[soakplan.End]string{soakplan.Succeeded: "Failed", soakplan.Failed: "Succeeded"}[want.End]
	end := meta.FindStatusCondition(conditions, string(want.End))
	switch {
	case end == nil || end.Status != metav1.ConditionTrue:
		return fmt.Errorf("it has not %s", want.End)
	case meta.IsStatusConditionTrue(conditions, other):
		return fmt.Errorf("it has %s, and %s too", want.End, other)
	case want.Reason != "" && end.Reason != want.Reason:
		return fmt.Errorf("the reason is %s, not %s", end.Reason, want.Reason)
	case end.ObservedGeneration != object.GetGeneration():
		return fmt.Errorf("%s is of generation %d, not %d", want.End, end.ObservedGeneration, object.GetGeneration())
	}
	return partsOf(object, want.Parts)
}

// partsOf returns how the parts of an object differ from their expected ends.
func partsOf(object client.Object, want map[string]soakplan.Ends) error {
	var errs []error
	got := map[string]soakplan.PartEnd{}
	switch object := object.(type) {
	case *v1alpha1.JobFlow:
		for _, n := range object.Status.Flows {
			got[n.Name] = soakplan.PartEnd(n.State)
		}
	case *v1alpha1.DaemonJob:
		for name := range want { // those that were skipped are counted, but not named
			got[name] = soakplan.PartSkipped
		}
		for end, text := range map[soakplan.PartEnd]string{
			soakplan.PartSucceeded: object.Status.SucceededNodes, soakplan.PartFailed: object.Status.FailedNodes,
		} {
			for name := range want {
				if isIn(name, text) {
					got[name] = end
				}
			}
		}
	default:
		return nil
	}
	for name, ends := range want {
		if !slices.Contains(ends, got[name]) {
			errs = append(errs, fmt.Errorf("%s is %q, not %v", name, got[name], ends))
		}
	}
	return errors.Join(errs...)
}

// isIn tells whether a folded list of the suite's nodes has one of them.
func isIn(node, folded string) bool {
	return slices.Contains(strings.Split(strings.NewReplacer("node-[2-3]", "node-2,node-3", "node-[2,3]", "node-2,node-3").Replace(folded), ","), node)
}

// children are what operators and their children can leave behind.
var children = []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.ServiceList{}, &v1alpha1.MiniClusterList{}}

// awaitNothingOrphaned waits until each Job, pod, Service and MiniCluster that has an owner has one that exists: what a user
// has deleted, or a TTL, has left nothing.
func (s *soak) awaitNothingOrphaned() {
	s.Helper()
	s.eventually("no orphans", func() error {
		living := map[any]bool{}
		owners := append([]client.ObjectList{
			&v1alpha1.JobFlowList{}, &v1alpha1.DaemonJobList{}, &v1alpha1.ReplicaJobList{}, &v1alpha1.FluxJobList{},
		}, children...)
		var found []client.Object
		for _, list := range owners {
			objects, err := s.list(list)
			if err != nil {
				return err
			}
			for _, o := range objects {
				living[o.GetUID()] = true
				found = append(found, o)
			}
		}
		for _, o := range found {
			if owner := metav1.GetControllerOf(o); owner != nil && !living[owner.UID] {
				return fmt.Errorf("%T %s outlives its %s %s", o, o.GetName(), owner.Kind, owner.Name)
			}
		}
		return nil
	})
}

// awaitEmpty waits until there is nothing but what each namespace has.
func (s *soak) awaitEmpty() {
	s.Helper()
	lists := append([]client.ObjectList{&v1alpha1.JobFlowList{}, &v1alpha1.FluxJobList{}, &corev1.ConfigMapList{}, &corev1.SecretList{}}, children...)
	s.eventually("nothing to be left", func() error {
		for _, list := range lists {
			objects, err := s.list(list)
			if err != nil {
				return err
			}
			for _, o := range objects {
				if o.GetName() != "kube-root-ca.crt" {
					return fmt.Errorf("%T %s is left", o, o.GetName())
				}
			}
		}
		return nil
	})
}

func (s *soak) list(into client.ObjectList) ([]client.Object, error) {
	list := into.DeepCopyObject().(client.ObjectList)
	if err := cluster.List(s.Context(), list, client.InNamespace(s.name)); err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	objects := make([]client.Object, 0, len(items))
	for _, item := range items {
		objects = append(objects, item.(client.Object))
	}
	return objects, err
}
