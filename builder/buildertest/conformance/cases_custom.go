package conformance

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func custom(s *session) {
	s.keepStatus = true
	content := jobFlow("untyped")
	content["status"] = map[string]any{"state": "Running"}
	content["spec"].(map[string]any)["unknown"] = "field"
	u := &unstructured.Unstructured{Object: content}
	s.create("status and unknown fields are dropped", u)
	u = u.DeepCopy()
	u.SetResourceVersion("")
	s.update("update without a version", u)
	s.patch("a label", u, types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)
	s.patch("the spec", u, types.MergePatchType, `{"spec":{"flows":[{"name":"b","jobTemplateRef":"t"}]}}`)
	s.patch("strategic", u, types.StrategicMergePatchType, `{"spec":{}}`)
	now := s.fresh(u)
	patched := like(u)
	err := s.client.Status().Patch(s.ctx, patched, client.RawPatch(types.MergePatchType,
		[]byte(`{"status":{"state":"Running"},"spec":{"flows":null},"metadata":{"labels":{"x":"y"}}}`)))
	s.did("the status and nothing else", patched, err)
	s.note("as new generation", patched.GetGeneration()-now.GetGeneration())

	typed := &v1alpha1.JobFlow{
		ObjectMeta: meta("typed"),
		Spec:       v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplate: &job("").Spec}}},
	}
	s.create("typed", typed)
	s.keepsVersion("typed update", typed, func(client.Object) error {
		same := &v1alpha1.JobFlow{}
		if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(typed), same); err != nil {
			return err
		}
		return s.client.Update(s.ctx, same)
	})

	applied := jobFlow("applied")
	s.apply("applied", applied, mine)
	s.apply("by another, of other items", map[string]any{
		"apiVersion": applied["apiVersion"], "kind": "JobFlow", "metadata": map[string]any{"name": "applied", "labels": map[string]any{"x": "y"}},
		"spec": map[string]any{"flows": []any{map[string]any{"name": "z", "jobTemplateRef": "t"}}},
	}, other)
	s.apply("applied again", applied, mine)

	settings := s.given(configMap("settings"))
	s.did("a status of a built-in kind that has none", nil,
		s.client.Status().Patch(s.ctx, settings, client.RawPatch(types.MergePatchType, []byte(`{}`))))
	template := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "api.practice.com/v1alpha1", "kind": "JobTemplate", "metadata": map[string]any{"name": "t"},
	}}
	s.place(template)
	s.did("a status of a kind that has none", nil,
		s.client.Status().Patch(s.ctx, template, client.RawPatch(types.MergePatchType, []byte(`{}`))))
}
