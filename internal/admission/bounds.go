package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/quantity"
)

// An element of a list costs two bytes of JSON and hundreds of bytes once it is decoded, so that what a review costs follows from how
// many objects are in it. Ten thousand nodes with ten objects each are within the bounds; managed fields have many more, and small ones.
const (
	maxObjectsOfSpec = 100_000 // in all but the metadata
	maxObjects       = 500_000
)

// bounded refuses objects with too many objects in them, or with quantities that take hours to read, before they are decoded.
type bounded struct {
	next admission.Handler
	as   reflect.Type // what they are decoded into
}

// Handle answers a review.
func (b bounded) Handle(ctx context.Context, review admission.Request) admission.Response {
	for _, raw := range [][]byte{review.Object.Raw, review.OldObject.Raw} {
		if err := checkSize(raw); err != nil {
			return admission.Errored(http.StatusRequestEntityTooLarge, err)
		}
		if err := quantity.CheckJSON(raw, b.as); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
	}
	return b.next.Handle(ctx, review)
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
