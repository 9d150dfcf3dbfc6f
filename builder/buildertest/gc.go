package buildertest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// GarbageCollector is the client name of the garbage collector's calls in the server's [Ledger].
const GarbageCollector = "garbage-collector"

// CollectGarbage deletes objects of which no owner exists, finishes orphaning and foreground deletion, and empties terminating
// namespaces. It looks for an owner only in the object's own namespace. It doesn't delete a cluster-scoped object with an owner of a
// namespaced kind.
func (s *Server) CollectGarbage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collect()
}

func (s *Server) collect() {
	for before := s.version; ; before = s.version {
		for _, gvk := range s.gvks() {
			k, err := s.kinds.named(gvk)
			if err != nil {
				continue
			}
			for _, obj := range s.list(gvk, s.version) {
				s.collectOne(k, obj)
			}
		}
		if s.version == before {
			return
		}
	}
}

func (s *Server) collectOne(k kind, obj client.Object) {
	if obj.GetDeletionTimestamp() != nil {
		s.finishDeletion(k, obj)
		return
	}
	if k.namespaced {
		if ns := s.get(namespaceKind, types.NamespacedName{Name: obj.GetNamespace()}); ns != nil && ns.GetDeletionTimestamp() != nil {
			s.collectorDeletes(k, obj, metav1.DeletePropagationBackground)
			return
		}
	}
	s.collectOrphan(k, obj)
}

// collectOrphan deletes an object if it has owners and all of them are deleted or terminating.
func (s *Server) collectOrphan(k kind, obj client.Object) {
	var gone, leaving, staying []metav1.OwnerReference
	for _, ref := range obj.GetOwnerReferences() {
		switch owner, known := s.owner(k, obj, ref); {
		case !known:
			return
		case owner == nil:
			gone = append(gone, ref)
		case isForeground(owner):
			leaving = append(leaving, ref)
		default:
			staying = append(staying, ref)
		}
	}
	switch {
	case len(gone)+len(leaving) == 0:
	case len(staying) > 0:
		s.collectorWrites(k, obj, func(o client.Object) { o.SetOwnerReferences(staying) })
	case len(leaving) > 0 && s.hasDependents(obj, nil):
		s.collectorDeletes(k, obj, metav1.DeletePropagationForeground)
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
		s.collectorDeletes(k, obj, metav1.DeletePropagationOrphan)
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
		s.collectorDeletes(k, obj, metav1.DeletePropagationForeground)
	default:
		s.collectorDeletes(k, obj, metav1.DeletePropagationBackground)
	}
}

// lacksOwner reports whether collectOrphan would delete an object, or remove references from it, because an owner doesn't exist. An owner
// in foreground deletion isn't enough: the real collector looks at its dependents when another one of them is deleted.
func (s *Server) lacksOwner(k kind, obj client.Object) bool {
	lacks := false
	for _, ref := range obj.GetOwnerReferences() {
		owner, known := s.owner(k, obj, ref)
		if !known {
			return false
		}
		lacks = lacks || owner == nil
	}
	return lacks
}

// owner returns the object of a reference of obj, nil if it doesn't exist. It returns false for an owner that the garbage collector
// ignores: one of an unknown kind, or one of a namespaced kind while the object has no namespace.
func (s *Server) owner(k kind, obj client.Object, ref metav1.OwnerReference) (client.Object, bool) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, false
	}
	ownerKind, err := s.kinds.named(gv.WithKind(ref.Kind))
	if err != nil || (ownerKind.namespaced && !k.namespaced) {
		return nil, false
	}
	key := types.NamespacedName{Name: ref.Name}
	if ownerKind.namespaced {
		key.Namespace = obj.GetNamespace()
	}
	owner := s.get(ownerKind, key)
	if owner == nil || owner.GetUID() != ref.UID {
		return nil, true
	}
	return owner, true
}

func isForeground(obj client.Object) bool {
	return obj.GetDeletionTimestamp() != nil && slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

// finishDeletion removes the collector's own finalizers from an object when their work is done.
func (s *Server) finishDeletion(k kind, obj client.Object) {
	finalizers := obj.GetFinalizers()
	switch {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		s.orphan(obj)
		s.collectorWrites(k, obj, without(metav1.FinalizerOrphanDependents))
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		if !s.hasDependents(obj, func(ref metav1.OwnerReference) bool { return ptr.Deref(ref.BlockOwnerDeletion, false) }) {
			s.collectorWrites(k, obj, without(metav1.FinalizerDeleteDependents))
		}
	case k.gvk == namespaceKind.gvk && len(finalizers) == 0 && !s.holdsContent(k, obj):
		s.collectorDeletes(k, obj, metav1.DeletePropagationBackground)
	}
}

func without(finalizer string) func(client.Object) {
	return func(o client.Object) {
		o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer }))
	}
}

// orphan removes the references to an owner from all its dependents.
func (s *Server) orphan(owner client.Object) {
	s.eachDependent(owner, func(k kind, obj client.Object, _ metav1.OwnerReference) {
		s.collectorWrites(k, obj, func(o client.Object) {
			o.SetOwnerReferences(slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()),
				func(ref metav1.OwnerReference) bool { return ref.UID == owner.GetUID() }))
		})
	})
}

func (s *Server) hasDependents(owner client.Object, which func(metav1.OwnerReference) bool) bool {
	found := false
	s.eachDependent(owner, func(_ kind, _ client.Object, ref metav1.OwnerReference) {
		found = found || which == nil || which(ref)
	})
	return found
}

func (s *Server) eachDependent(owner client.Object, f func(kind, client.Object, metav1.OwnerReference)) {
	for _, gvk := range s.gvks() {
		k, err := s.kinds.named(gvk)
		if err != nil {
			continue
		}
		for _, obj := range s.list(gvk, s.version) {
			for _, ref := range obj.GetOwnerReferences() {
				if ref.UID == owner.GetUID() && (owner.GetNamespace() == "" || owner.GetNamespace() == obj.GetNamespace()) {
					f(k, obj, ref)
				}
			}
		}
	}
}

// holdsContent reports whether an object is a namespace that contains objects.
func (s *Server) holdsContent(k kind, obj client.Object) bool {
	if k.gvk != namespaceKind.gvk {
		return false
	}
	for _, gvk := range s.gvks() {
		for _, o := range s.list(gvk, s.version) {
			if o.GetNamespace() == obj.GetName() {
				return true
			}
		}
	}
	return false
}

func setNamespaceTerminating(obj client.Object) {
	obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
}

func (s *Server) collectorWrites(k kind, obj client.Object, change func(client.Object)) {
	changed := copyOf(obj)
	change(changed)
	r := s.collectorRequest(VerbPatch, k, obj)
	changed, err := s.attribute(r, changed, obj)
	if err == nil {
		_, err = s.replace(r, changed, obj)
	}
	s.record(r, obj, err)
}

func (s *Server) collectorDeletes(k kind, obj client.Object, policy metav1.DeletionPropagation) {
	r := s.collectorRequest(VerbDelete, k, obj)
	_, err := s.delete(r, &client.DeleteOptions{PropagationPolicy: &policy})
	s.record(r, obj, err)
}

func (s *Server) collectorRequest(verb Verb, k kind, obj client.Object) *request {
	return &request{kind: k, manager: GarbageCollector, Call: Call{
		Client: GarbageCollector, Verb: verb, Kind: k.gvk.GroupKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(),
	}}
}
