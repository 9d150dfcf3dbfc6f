package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/quantity"
)

// An element of a list costs two bytes of JSON and hundreds of bytes once it is decoded, so that what a review costs follows from how
// many objects are in it. Ten thousand nodes with ten objects each are within the bounds; managed fields have many more, and small ones.
const (
	maxObjectsOfSpec = 100_000 // in all but the metadata
	maxObjects       = 500_000
)

// bounded refuses objects with too many objects in them, or with quantities that take hours to read, before they are decoded. One that
// was stored before there was a webhook can be deleted, changed in all but its spec, and repaired.
type bounded struct {
	next admission.Handler
	as   reflect.Type // what they are decoded into
}

// Handle answers a review.
func (b bounded) Handle(ctx context.Context, review admission.Request) admission.Response {
	isUpdate := review.Operation == admissionv1.Update
	if isUpdate && isTerminating(review.Object.Raw) {
		return admission.Allowed("")
	}
	old := b.refusal(review.OldObject.Raw)
	if isUpdate && old != nil {
		if haveSameSpec(review.Object.Raw, review.OldObject.Raw) {
			return admission.Allowed("")
		}
		review.Operation, review.OldObject, old = admissionv1.Create, runtime.RawExtension{}, nil
	}
	for _, refusal := range []*admission.Response{b.refusal(review.Object.Raw), old} {
		if refusal != nil {
			return *refusal
		}
	}
	return b.next.Handle(ctx, review)
}

// refusal returns why an object isn't decoded, or nil.
func (b bounded) refusal(raw []byte) *admission.Response {
	if err := checkSize(raw); err != nil {
		return new(admission.Errored(http.StatusRequestEntityTooLarge, err))
	}
	if err := quantity.CheckJSON(raw, b.as); err != nil {
		return new(admission.Errored(http.StatusBadRequest, err))
	}
	return nil
}

// isTerminating reports whether an object is being deleted. It decodes nothing else.
func isTerminating(raw []byte) bool {
	var object struct {
		Metadata struct {
			DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	return json.Unmarshal(raw, &object) == nil && object.Metadata.DeletionTimestamp != nil
}

// haveSameSpec reports whether two objects have the same text as their spec: the API server writes equal ones alike.
func haveSameSpec(a, b []byte) bool {
	var one, other struct {
		Spec json.RawMessage `json:"spec"`
	}
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && bytes.Equal(one.Spec, other.Spec)
}

func checkSize(raw []byte) error {
	if n := objectsIn(raw); n > maxObjects {
		return fmt.Errorf("there are %d objects in it, more than %d", n, maxObjects)
	}
	if n := objectsBesideMetadata(raw); n > maxObjectsOfSpec {
		return fmt.Errorf("spec: there are %d objects in it, more than %d", n, maxObjectsOfSpec)
	}
	return nil
}

// objectsBesideMetadata counts the objects in all fields of an object but its metadata. A field that is there twice counts twice,
// since both are decoded. What can't be read is refused later, with a better message.
func objectsBesideMetadata(raw []byte) (n int) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return 0
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return n
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return n
		}
		if name != "metadata" {
			n += objectsIn(value)
		}
	}
	return n
}

// objectsIn counts objects and nulls of a JSON text: in a list of objects, both become one.
func objectsIn(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == '{' || c == 'n'): // of the words of JSON, only null has an n
			n++
		}
	}
	return n
}
