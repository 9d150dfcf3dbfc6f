package admission

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The decoder reads a field that is there twice, and names are told apart by their case: neither hides what is decoded.
func TestObjectsBesideMetadata(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `[]`: 0, `"spec"`: 0, `{}`: 0, `{"metadata":{"a":{}}}`: 0, `{"spec":{"a":{}}}`: 2, `{"spec":{"a":{}},"Spec":null,"spec":{}}`: 4,
		`{"metadata":{},"Metadata":{},"status":[{},{}]}`: 3, `{"spec":{"a":{}},`: 2, `{"spec":{"a":`: 0,
	} {
		assert.Equal(t, want, objectsBesideMetadata([]byte(text)), text)
	}
}

// Without the check, decoding takes hours, and no other review gets its turn.
func TestAQuantityThatTakesHours(t *testing.T) {
	object := []byte(`{"spec":{"flows":[{"jobTemplate":{"template":{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1E-999999999"}}]}}}}]}}`)
	handler := bounded{next: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		t.Error("it is decoded")
		return admission.Allowed("")
	}), as: reflect.TypeFor[v1alpha1.JobFlow]()}
	review := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: object}}}
	got := handler.Handle(t.Context(), review)
	assert.False(t, got.Allowed)
	assert.Contains(t, got.Result.Message, "spec.flows[0].jobTemplate.template.spec.volumes[0].emptyDir.sizeLimit")
}

func TestObjectsInJSON(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `[null,{"a":"{n"},true,false]`: 2, `{"n\"{":{"b\\":null}}`: 3, `"`: 0, `"\`: 0,
	} {
		assert.Equal(t, want, objectsIn([]byte(text)), text)
	}
}
