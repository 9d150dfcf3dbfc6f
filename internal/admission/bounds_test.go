package admission

import (
	"context"
	"fmt"
	"reflect"
	"strings"
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

// An object that is over the bounds, since it was stored before there was a webhook, can be repaired and deleted.
func TestAnObjectOverTheBoundsCanBeRepairedAndDeleted(t *testing.T) {
	flow := func(metadata string, nodes int) []byte {
		return fmt.Appendf(nil, `{"metadata":{"name":"f"%s},"spec":{"flows":[%s{}]}}`, metadata, strings.Repeat("{},", nodes))
	}
	const over, deleted = maxObjectsOfSpec, `,"deletionTimestamp":"2026-11-28T10:00:00Z"`
	type operation = admissionv1.Operation
	for name, c := range map[string]struct {
		operation     operation
		object, old   []byte
		allowed       bool
		judgedAs      operation // empty: it isn't judged
		judgedWithOld bool
	}{
		"created":                              {operation: "CREATE", object: flow("", over)},
		"created, and deleted":                 {operation: "CREATE", object: flow(deleted, over)},
		"made so":                              {operation: "UPDATE", object: flow("", over), old: flow("", 1)},
		"another spec":                         {operation: "UPDATE", object: flow("", over), old: flow("", over+1)},
		"a label":                              {operation: "UPDATE", object: flow(`,"labels":{"a":"b"}`, over), old: flow("", over), allowed: true},
		"a finalizer goes":                     {operation: "UPDATE", object: flow(deleted, over), old: flow(deleted+`,"finalizers":["a"]`, over), allowed: true},
		"a finalizer goes, within the bounds":  {operation: "UPDATE", object: flow(deleted, 1), old: flow(deleted, 1), allowed: true},
		"repaired":                             {operation: "UPDATE", object: flow("", 1), old: flow("", over), allowed: true, judgedAs: "CREATE"},
		"deleted, as anyone may send a review": {operation: "DELETE", old: flow("", over)},
		"within the bounds":                    {operation: "UPDATE", object: flow("", 1), old: flow("", 2), allowed: true, judgedAs: "UPDATE", judgedWithOld: true},
	} {
		t.Run(name, func(t *testing.T) {
			var judged admission.Request
			handler := bounded{next: admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
				judged = r
				return admission.Allowed("")
			}), as: reflect.TypeFor[v1alpha1.JobFlow]()}
			got := handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: c.operation, Object: runtime.RawExtension{Raw: c.object}, OldObject: runtime.RawExtension{Raw: c.old},
			}})
			assert.Equal(t, c.allowed, got.Allowed)
			assert.Equal(t, c.judgedAs, judged.Operation)
			assert.Equal(t, c.judgedWithOld, judged.OldObject.Raw != nil)
		})
	}
}

func TestObjectsInJSON(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `[null,{"a":"{n"},true,false]`: 2, `{"n\"{":{"b\\":null}}`: 3, `"`: 0, `"\`: 0,
	} {
		assert.Equal(t, want, objectsIn([]byte(text)), text)
	}
}
