package conformance

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func create(s *session) {
	first := s.create("first", configMap("one"))
	s.create("again", configMap("one"))
	s.note("has uid, time and version",
		first.GetUID() != "" && !first.GetCreationTimestamp().Time.IsZero() && first.GetResourceVersion() != "")

	s.create("without a name", configMap(""))
	s.create("with a name that is none", configMap("Not_a_Name"))
	s.create("with a name that is too long", configMap(strings.Repeat("x", 254)))
	s.create("service name with a dot", service("a.b"))

	generated := configMap("")
	generated.GenerateName = "generated-"
	s.create("generated name", generated)

	versioned := configMap("versioned")
	versioned.ResourceVersion = "1"
	s.create("with a resource version", versioned)

	presumptuous := configMap("presumptuous")
	presumptuous.UID = "made-up"
	presumptuous.Generation = 7
	presumptuous.DeletionTimestamp = &metav1.Time{Time: first.GetCreationTimestamp().Time}
	presumptuous.DeletionGracePeriodSeconds = new(int64)
	presumptuous.Finalizers = []string{"example.com/hold"}
	s.create("with what only the server sets", presumptuous)
	presumptuous.Finalizers = nil
	s.update("tidy up", presumptuous)

	s.create("with a status", withPhase(job("with-status")))
	s.create("labels that are none", labelled(configMap("labelled"), "a b", "c d"))
}

func labelled(obj *corev1.ConfigMap, key, value string) *corev1.ConfigMap {
	obj.Labels = map[string]string{key: value}
	return obj
}

func update(s *session) {
	s.place(configMap("x"))
	missing := configMap("missing")
	missing.Namespace = s.namespace
	s.update("what does not exist", missing)

	obj := s.given(configMap("one")).(*corev1.ConfigMap)
	stale := copyOf(obj)
	obj.Data["a"] = "changed"
	delete(obj.Data, "b")
	s.update("change", obj)
	stale.Data["a"] = "other"
	s.update("from a stale copy", stale)

	blind := configMap("one")
	blind.Namespace = s.namespace
	s.update("without a resource version", blind)

	foreign := copyOf(blind)
	foreign.UID = "another"
	s.update("with another uid", foreign)

	blind.Data["a"] = "by another"
	s.update("by another field owner", blind, client.FieldOwner("other"))

	pdb := s.given(budget("budget"))
	pdb.SetResourceVersion("")
	s.update("of a kind that needs a version, without one", pdb)
}

func patch(s *session) {
	missing := configMap("missing")
	missing.Namespace = s.namespace
	s.patch("merge what does not exist", missing, types.MergePatchType, `{"data":{"a":"x"}}`)

	obj := s.given(configMap("one"))
	s.patch("merge", obj, types.MergePatchType, `{"data":{"a":"merged","b":null}}`)
	s.patch("merge with a stale version", obj, types.MergePatchType, `{"metadata":{"resourceVersion":"1"},"data":{"a":"x"}}`)
	s.patch("merge with another uid", obj, types.MergePatchType, `{"metadata":{"uid":"another"},"data":{"a":"x"}}`)
	s.patch("merge with another name", obj, types.MergePatchType, `{"metadata":{"name":"two"}}`)
	s.patch("merge that is no JSON", obj, types.MergePatchType, `{`)
	s.patch("merge by force", obj, types.MergePatchType, `{"data":{"a":"x"}}`, client.ForceOwnership)
	s.patch("json", obj, types.JSONPatchType,
		`[{"op":"replace","path":"/data/a","value":"by json"},{"op":"add","path":"/data/c","value":"3"}]`)
	s.patch("json whose test fails", obj, types.JSONPatchType,
		`[{"op":"test","path":"/data/a","value":"no"},{"op":"remove","path":"/data/a"}]`)
	s.patch("json that removes what isn't there", obj, types.JSONPatchType, `[{"op":"remove","path":"/data/zzz"}]`)

	dep := s.given(deployment("web"))
	s.patch("strategic adds a container", dep, types.StrategicMergePatchType,
		`{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"busybox"}]}}}}`)
	s.patch("strategic deletes one", dep, types.StrategicMergePatchType,
		`{"spec":{"template":{"spec":{"containers":[{"name":"second","$patch":"delete"}]}}}}`)
	s.patch("merge replaces the list", dep, types.MergePatchType,
		`{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"busybox:1"}]}}}}`)
}

func dryRun(s *session) {
	s.create("create", configMap("dry"), client.DryRunAll)
	dry := configMap("dry")
	dry.Namespace = s.namespace
	s.note("created", s.exists(dry))
	obj := s.given(configMap("wet"))
	s.create("create what exists", configMap("wet"), client.DryRunAll)
	s.patch("patch", obj, types.MergePatchType, `{"data":{"a":"x"}}`, client.DryRunAll)
	s.read("unpatched", obj)
	s.apply("apply", untypedConfigMap("new", map[string]any{"a": "1"}), client.DryRunAll)
	s.apply("apply what exists", untypedConfigMap("wet", map[string]any{"a": "1"}), client.DryRunAll)
	s.delete("delete", obj, client.DryRunAll)
	s.note("deleted", !s.exists(obj))
}

func noOps(s *session) {
	obj := s.given(configMap("one"))
	s.keepsVersion("update", obj, func(now client.Object) error { return s.client.Update(s.ctx, now) })
	s.keepsVersion("merge patch", obj, func(now client.Object) error {
		return s.client.Patch(s.ctx, now, client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"1"}}`)))
	})
	s.keepsVersion("update that leaves out defaults", s.given(deployment("web")), func(now client.Object) error {
		again := deployment("web")
		again.Namespace = s.namespace
		again.Annotations = now.GetAnnotations() // the controller's
		return s.client.Update(s.ctx, again)
	})
	wanted := untypedConfigMap("applied", map[string]any{"a": "1"})
	again := func(now client.Object) error {
		//nolint:staticcheck // any type can be applied so
		return s.client.Patch(s.ctx, s.untyped(wanted), client.Apply, client.FieldOwner(Manager))
	}
	if err := again(nil); err != nil {
		s.t.Fatal(err)
	}
	s.keepsVersion("apply", s.untyped(wanted), again)
	s.keepsVersion("merge patch of a label that is there", s.given(labelled(configMap("two"), "a", "b")), func(now client.Object) error {
		return s.client.Patch(s.ctx, now, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
	})
}
