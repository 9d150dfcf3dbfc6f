package conformance

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func deletion(s *session) {
	missing := configMap("missing")
	missing.Namespace = s.namespace
	s.delete("what does not exist", missing)

	obj := s.given(configMap("one"))
	s.knows(obj.GetUID(), "its uid")
	s.delete("another uid", obj, client.Preconditions{UID: ptr.To(types.UID("another"))})
	s.delete("another version", obj, client.Preconditions{ResourceVersion: new("1")})
	s.note("is there", s.exists(obj))
	s.delete("its uid and version", obj, client.Preconditions{UID: new(obj.GetUID()), ResourceVersion: new(obj.GetResourceVersion())})
	s.note("is gone", !s.exists(obj))
	s.create("made again", configMap("one"))
	s.delete("the old one", obj, client.Preconditions{UID: new(obj.GetUID())})

	unscheduled := s.given(pod("unscheduled"))
	s.delete("a pod that never ran", unscheduled)
	s.note("is gone at once", !s.exists(unscheduled))

	for _, name := range []string{"a", "b", "c"} {
		s.given(labelled(configMap("many-"+name), "many", "yes"))
	}
	s.did("all of them", nil, s.client.DeleteAllOf(s.ctx, configMap(""),
		client.InNamespace(s.namespace), client.MatchingLabels{"many": "yes"}))
	gone := configMap("many-b")
	gone.Namespace = s.namespace
	s.note("are gone", !s.exists(gone))
}

// namespaceDeletion uses a namespace of its own, beside those of the target.
func namespaceDeletion(s *session) {
	name := s.namespace + "-gone"
	namespace := s.given(&corev1.Namespace{ObjectMeta: meta(name)})
	s.delete("the namespace", namespace)
	s.goes("goes", namespace)
	into := configMap("late")
	into.Namespace = name
	s.did("an object in a deleted namespace", nil, s.client.Create(s.ctx, into))
	applied := corev1ac.ConfigMap("late", name).WithData(map[string]string{"a": "1"})
	s.did("an apply there", nil, s.client.Apply(s.ctx, applied, client.FieldOwner(Manager)))
}

func finalizers(s *session) {
	held := budget("held")
	held.Finalizers = []string{"example.com/a", "example.com/b"}
	obj := s.create("with finalizers", held)
	s.delete("delete", obj)
	now := s.read("is marked", obj)
	s.note("has a deletion time", now.GetDeletionTimestamp() != nil)
	s.keepsVersion("delete again", obj, func(client.Object) error { return s.client.Delete(s.ctx, held) })
	s.create("make it anew", budget("held"))
	s.patch("another finalizer", obj, types.JSONPatchType, `[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/c"}]`)
	s.patch("one less", obj, types.MergePatchType, `{"metadata":{"finalizers":["example.com/b"]}}`)
	s.patch("its spec can change", obj, types.MergePatchType, `{"spec":{"minAvailable":3}}`)
	s.patch("none left", obj, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	s.note("is gone", !s.exists(obj))
	bad := configMap("bad")
	bad.Finalizers = []string{"not qualified!"}
	s.create("a finalizer that is none", bad)
}

func ownedBy(obj client.Object, owners ...client.Object) client.Object {
	var refs []metav1.OwnerReference
	for _, o := range owners {
		refs = append(refs, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: o.GetName(), UID: o.GetUID(), BlockOwnerDeletion: new(true),
		})
	}
	obj.SetOwnerReferences(refs)
	return obj
}

func garbage(s *session) {
	owner := s.given(configMap("background"))
	child := s.given(ownedBy(configMap("background-child"), owner))
	grandchild := s.given(ownedBy(configMap("background-grandchild"), child))
	s.delete("background", owner, client.PropagationPolicy(metav1.DeletePropagationBackground))
	s.note("owner is gone at once", !s.exists(owner))
	s.goes("child goes", child)
	s.goes("grandchild goes", grandchild)

	owner = s.given(configMap("foreground"))
	s.knows(owner.GetUID(), "uid of the foreground owner")
	held := ownedBy(configMap("foreground-child"), owner)
	held.SetFinalizers([]string{"example.com/hold"})
	child = s.given(held)
	s.delete("foreground", owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	s.note("child is marked", s.target.Await(func() bool { return s.fresh(child).GetDeletionTimestamp() != nil }))
	s.note("owner waits, with", s.fresh(owner).GetFinalizers())
	s.patch("child is let go", child, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	s.goes("owner goes", owner)

	owner = s.given(configMap("of-foreground"))
	waiting := ownedBy(configMap("waiting"), owner)
	waiting.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
	child = s.given(waiting)
	s.knows(child.GetUID(), "uid of waiting")
	held = ownedBy(configMap("held"), child)
	held.SetFinalizers([]string{"example.com/hold"})
	held = s.given(held)
	s.delete("the owner of one to be deleted in the foreground", owner, client.PropagationPolicy(metav1.DeletePropagationBackground))
	s.note("what it owns is marked", s.target.Await(func() bool { return s.fresh(held).GetDeletionTimestamp() != nil }))
	s.note("it waits, with", s.fresh(child).GetFinalizers())
	s.patch("what it owns is let go", held, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	s.goes("it goes", child)

	owner = s.given(configMap("orphaning"))
	child = s.given(ownedBy(configMap("orphan"), owner))
	s.delete("orphan", owner, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	s.goes("owner goes after orphaning", owner)
	s.read("child stays", child)

	first, second := s.given(configMap("first")), s.given(configMap("second"))
	child = s.given(ownedBy(configMap("shared"), first, second))
	s.delete("one of two owners", first)
	s.knows(second.GetUID(), "uid of the second")
	s.note("one reference is left", s.target.Await(func() bool { return len(s.fresh(child).GetOwnerReferences()) == 1 }))
	s.read("child with one owner", child)

	abroad := configMap("abroad")
	abroad.Namespace = s.other
	owner = s.given(abroad)
	child = s.given(ownedBy(configMap("of-abroad"), owner))
	s.delete("something, to let garbage be looked for", second)
	s.goes("child of an owner in another namespace goes", child)
	s.note("the owner stays", s.exists(owner))

	legacy := s.given(job("legacy"))
	child = s.given(ownedByJob(configMap("of-job"), legacy))
	s.delete("a job without a policy", legacy)
	s.goes("job goes", legacy)
	s.read("and orphans", child)
}

func ownedByJob(obj, owner client.Object) client.Object {
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner.GetName(), UID: owner.GetUID()}})
	return obj
}
