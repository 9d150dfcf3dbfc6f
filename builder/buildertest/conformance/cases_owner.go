package conformance

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// absentOwners has objects that get an owner which isn't there, or is there no longer.
func absentOwners(s *session) {
	never := configMap("never")
	never.UID = "11111111-2222-4333-8444-555555555555"
	s.goes("child of an owner that never was goes", s.given(ownedBy(configMap("of-never"), never)))

	former := s.given(configMap("recreated"))
	s.delete("an owner", former)
	now := s.given(configMap("recreated"))
	s.goes("child of its former owner's uid goes", s.given(ownedBy(configMap("of-former"), former)))
	s.note("the owner of the same name stays", s.exists(now))

	abroad := configMap("abroad")
	abroad.Namespace = s.other
	s.given(abroad)
	s.goes("child of an owner in another namespace goes", s.given(ownedBy(configMap("of-abroad"), abroad)))
	s.note("the owner in another namespace stays", s.exists(abroad))

	child := s.given(configMap("adopted"))
	s.own("an owner that never was, later", child, never)
	s.goes("child goes later", child)

	parent := s.given(configMap("parent"))
	grandchild := s.given(ownedBy(configMap("grandchild"), parent))
	s.own("an owner that never was, for a parent", parent, never)
	s.goes("parent goes", parent)
	s.goes("grandchild goes", grandchild)

	s.knows(now.GetUID(), "uid of recreated")
	child = s.given(ownedBy(configMap("shared"), never, now, former))
	s.note("one reference is left", s.target.Await(func() bool { return len(s.fresh(child).GetOwnerReferences()) == 1 }))
	s.read("child with one owner", child)

	child = ownedBy(configMap("held"), never)
	child.SetFinalizers([]string{"example.com/hold"})
	child = s.given(child)
	s.note("a held child is marked", s.target.Await(func() bool { return s.fresh(child).GetDeletionTimestamp() != nil }))
	s.patch("it is let go", child, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	s.goes("it goes", child)

	child = ownedBy(configMap("orphaning"), now)
	child.SetFinalizers([]string{metav1.FinalizerOrphanDependents})
	child = s.given(child)
	grandchild = s.given(ownedBy(configMap("orphan"), child))
	s.own("an owner that never was, for one that orphans", child, never)
	s.goes("what orphans goes", child)
	s.read("its orphan stays", grandchild)

	s.inForeground(now)
}

// inForeground records what becomes of an object that gets an owner in foreground deletion.
func (s *session) inForeground(owner client.Object) {
	held := ownedBy(configMap("held"), owner)
	held.SetFinalizers([]string{"example.com/hold"})
	held = s.given(held)
	s.delete("an owner in the foreground", owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	s.note("its child is marked", s.target.Await(func() bool { return s.fresh(held).GetDeletionTimestamp() != nil }))
	late := s.given(ownedBy(configMap("late"), owner))
	s.patch("its child is let go", held, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	s.goes("a child made meanwhile goes", late)
	s.goes("the owner goes", owner)
}

// own makes an object a dependent of an owner only.
func (s *session) own(name string, obj, owner client.Object) {
	s.t.Helper()
	s.patch(name, obj, types.MergePatchType, fmt.Sprintf(
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}]}}`, owner.GetName(), owner.GetUID()))
}
