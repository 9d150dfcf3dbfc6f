package buildertest

import (
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// delete deletes an object as a DELETE does: at once, or with a deletion timestamp if finalizers or a grace period keep it.
func (s *Server) delete(r *request, o *client.DeleteOptions) (client.Object, error) {
	permanent := []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}
	if r.kind.gvk == namespaceKind.gvk && slices.Contains(permanent, r.Name) { // the admission plugin NamespaceLifecycle, before anything else
		return nil, apierrors.NewForbidden(r.kind.resource, r.Name, errors.New("this namespace may not be deleted"))
	}
	old := s.get(r.kind, r.key())
	if old == nil {
		return nil, r.kind.notFound(r.Name)
	}
	if err := checkPreconditions(r, old, o.Preconditions); err != nil {
		return nil, err
	}
	obj := copyOf(old)
	grace := rules.GracePeriod(obj, o.GracePeriodSeconds)
	if since := obj.GetDeletionTimestamp(); since != nil {
		left := ptr.Deref(obj.GetDeletionGracePeriodSeconds(), 0)
		if left > 0 && (o.GracePeriodSeconds == nil || *o.GracePeriodSeconds >= left) {
			return old, nil // a later request can only shorten the grace period
		}
		grace = ptr.Deref(o.GracePeriodSeconds, 0)
	}
	obj.SetFinalizers(deletionFinalizers(r.kind, obj, o.PropagationPolicy))
	if s.holdsContent(r.kind, obj) {
		setNamespaceTerminating(obj)
	} else if grace == 0 && len(obj.GetFinalizers()) == 0 {
		return s.remove(r, obj), nil
	}
	s.markDeleted(obj, grace)
	if isSame(obj, old) {
		return old, nil
	}
	r.Changed = true
	if !r.DryRun {
		s.put(r.kind, obj)
	}
	return obj, nil
}

func (s *Server) markDeleted(obj client.Object, grace int64) {
	if obj.GetDeletionTimestamp() == nil && obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
	at := metav1.NewTime(s.now().Add(time.Duration(grace) * time.Second))
	if since := obj.GetDeletionTimestamp(); since == nil || at.Before(since) {
		obj.SetDeletionTimestamp(&at)
	}
	obj.SetDeletionGracePeriodSeconds(&grace)
}

func checkPreconditions(r *request, obj client.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	gr := r.kind.resource
	gr.Resource = r.kind.gvk.Kind
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(gr, r.Name, &preconditionError{"UID", string(*p.UID), string(obj.GetUID()),
			"The object might have been deleted and then recreated"})
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(gr, r.Name, &preconditionError{"ResourceVersion", *p.ResourceVersion, obj.GetResourceVersion(),
			"The object might have been modified"})
	}
	return nil
}

type preconditionError struct{ what, asked, is, perhaps string }

func (e *preconditionError) Error() string {
	return "the " + e.what + " in the precondition (" + e.asked + ") does not match the " + e.what + " in record (" + e.is + "). " + e.perhaps
}

// deletionFinalizers are the finalizers of an object after its deletion has begun. The propagation policy becomes one.
func deletionFinalizers(k kind, obj client.Object, policy *metav1.DeletionPropagation) []string {
	had := obj.GetFinalizers()
	finalizers := slices.DeleteFunc(slices.Clone(had), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch {
	case policy != nil && *policy == metav1.DeletePropagationOrphan:
		return append(finalizers, metav1.FinalizerOrphanDependents)
	case policy != nil && *policy == metav1.DeletePropagationForeground:
		return append(finalizers, metav1.FinalizerDeleteDependents)
	case policy != nil:
		return finalizers
	case len(finalizers) != len(had):
		return had
	case k.builtin && rules.OrphansByDefault(k.gvk.GroupKind()):
		return append(finalizers, metav1.FinalizerOrphanDependents)
	default:
		return finalizers
	}
}
