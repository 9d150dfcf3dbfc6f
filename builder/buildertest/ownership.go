package buildertest

import (
	"fmt"
	"iter"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest/internal/statefulset"
)

// isOurs reports whether an object is an owner, or one of the others is and controls it, at any depth. The claims that a StatefulSet's
// controller has created for it have no controller, and outlive it.
func isOurs(obj client.Object, others iter.Seq[client.Object], isOwner func(client.Object) bool) bool {
	asked := map[client.Object]bool{} // references may form a circle
	var ours func(client.Object) bool
	ours = func(obj client.Object) bool {
		if asked[obj] {
			return false
		}
		asked[obj] = true
		if isOwner(obj) {
			return true
		}
		ref := metav1.GetControllerOfNoCopy(obj)
		claim, isClaim := obj.(*corev1.PersistentVolumeClaim)
		for other := range others {
			set, isSet := other.(*appsv1.StatefulSet)
			controls := ref != nil && ref.UID == other.GetUID() || isClaim && isSet && statefulset.IsClaim(set, claim)
			if controls && ours(other) {
				return true
			}
		}
		return false
	}
	return ours(obj)
}

// everyObject returns the last state of each object that exists or has existed.
func (s *snapshot) everyObject() iter.Seq[client.Object] {
	return func(yield func(client.Object) bool) {
		for _, rows := range s.tables {
			for _, h := range rows {
				var last types.UID
				for _, m := range slices.Backward(h) {
					if m.object == nil || m.object.GetUID() == last {
						continue
					}
					if last = m.object.GetUID(); !yield(m.object) {
						return
					}
				}
			}
		}
	}
}

// isForeign reports whether an initial object is neither requested nor controlled by a requested one.
func (s *Scenario) isForeign(obj client.Object) bool {
	return !isOurs(obj, slices.Values(s.Objects), func(o client.Object) bool {
		return slices.ContainsFunc(s.processes(), func(p Process) bool { return s.reconciles(p, o) })
	})
}

// foreignObjects returns the UIDs of the Foreign ones of the initial objects, in a server that began with them. A later object of the same
// name is another one.
func (s *Scenario) foreignObjects(server *Server) (map[types.UID]bool, error) {
	foreign := map[types.UID]bool{}
	for _, obj := range s.Objects {
		if !s.Foreign(obj) {
			continue
		}
		uid, err := server.initialUID(obj)
		if err != nil {
			return nil, err
		}
		foreign[uid] = true
	}
	return foreign, nil
}

// reconciles reports whether a process has a request of an object. A request of no known kind may mean any.
func (s *Scenario) reconciles(p Process, obj client.Object) bool {
	r := reconcile.Request{NamespacedName: keyOf(obj)}
	if !slices.Contains(p.Requests, r) {
		return false
	}
	if p.Owner != nil {
		return s.kindOf(obj) == s.kindOf(p.Owner)
	}
	kinds := s.kindsOf(r)
	return len(kinds) == 0 || slices.Contains(kinds, s.kindOf(obj))
}

// kindsOf returns the kinds of the initial objects that a request may mean: those of its name, without those that another one controls.
func (s *Scenario) kindsOf(r reconcile.Request) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, obj := range s.Objects {
		ref := metav1.GetControllerOfNoCopy(obj)
		controlled := ref != nil && slices.ContainsFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == ref.UID })
		if kind := s.kindOf(obj); keyOf(obj) == r.NamespacedName && !controlled && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// isOwner reports whether a process has a request of an object. The reconciler of a builder's operator knows the kind.
func (e *exploration) isOwner(obj client.Object) bool {
	return slices.ContainsFunc(e.processes, func(p process) bool {
		if p.wakes != nil {
			p.Owner = p.wakes.AnOwner
		}
		return e.scenario.reconciles(p.Process, obj)
	})
}

// checkKind returns an error if a later object, which no operator has created, is perhaps what a request means, and not the initial object
// of its name.
func (e *exploration) checkKind(obj client.Object) error {
	r, kind := reconcile.Request{NamespacedName: keyOf(obj)}, e.scenario.kindOf(obj)
	for _, p := range e.processes {
		if p.Owner != nil || p.wakes != nil || !slices.Contains(p.Requests, r) || metav1.GetControllerOfNoCopy(obj) != nil {
			continue
		}
		if kinds := e.scenario.kindsOf(r); len(kinds) > 0 && !slices.Contains(kinds, kind) {
			return ambiguous(r, kinds[0], kind)
		}
	}
	return nil
}

func ambiguous(r reconcile.Request, a, b schema.GroupKind) error {
	return fmt.Errorf("the request %s may mean a %s or a %s; set Owner to an object of the reconciled kind", r, a, b)
}
