package conformance

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func scale(s *session) {
	s.scale("what does not exist", deployment("missing"), `{"spec":{"replicas":3}}`)
	s.scale("what can't be scaled", configMap("one"), `{"spec":{"replicas":3}}`)

	obj := s.given(deployment("one")).(*appsv1.Deployment)
	s.scale("a negative number", obj, `{"spec":{"replicas":-1}}`)
	s.scale("from a stale copy", obj, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":3}}`)
	s.scale("up", obj, `{"spec":{"replicas":3}}`)
	after := &appsv1.Deployment{}
	if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(obj), after); err != nil {
		s.t.Fatal(err)
	}
	s.note("replicas", ptr.Deref(after.Spec.Replicas, 0))
	s.note("another generation", after.Generation > obj.Generation)
	s.scale("to the same", obj, `{"spec":{"replicas":3}}`)
}

// scale patches the subresource scale, and records the reply.
func (s *session) scale(name string, obj client.Object, patch string) {
	s.t.Helper()
	obj.SetNamespace(s.namespace)
	body := &autoscalingv1.Scale{}
	err := s.client.SubResource("scale").Patch(s.ctx, obj, client.RawPatch(types.MergePatchType, []byte(patch)),
		&client.SubResourcePatchOptions{SubResourceBody: body})
	s.did(name, nil, err)
	if err == nil {
		s.note("answered", body.Spec.Replicas)
	}
}
