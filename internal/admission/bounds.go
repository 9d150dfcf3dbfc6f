package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// An element of a list costs two bytes of JSON and hundreds of bytes once it is decoded, so that what a review costs follows from how
// many objects are in it. Ten thousand nodes with ten objects each are within the bounds; managed fields have many more, and small ones.
const (
	maxObjectsOfSpec = 100_000
	maxObjects       = 500_000
)

// bounded refuses objects with too many objects in them before they are decoded.
type bounded struct{ next admission.Handler }

// Handle answers a review.
func (b bounded) Handle(ctx context.Context, review admission.Request) admission.Response {
	for _, raw := range [][]byte{review.Object.Raw, review.OldObject.Raw} {
		if err := checkSize(raw); err != nil {
			return admission.Errored(http.StatusRequestEntityTooLarge, err)
		}
	}
	return b.next.Handle(ctx, review)
}

func checkSize(raw []byte) error {
	if n := objectsIn(raw); n > maxObjects {
		return fmt.Errorf("there are %d objects in it, more than %d", n, maxObjects)
	}
	var parts struct{ Spec json.RawMessage }
	if len(raw) > 0 && json.Unmarshal(raw, &parts) == nil { // what can't be read is refused later, with a better message
		if n := objectsIn(parts.Spec); n > maxObjectsOfSpec {
			return fmt.Errorf("spec: there are %d objects in it, more than %d", n, maxObjectsOfSpec)
		}
	}
	return nil
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
