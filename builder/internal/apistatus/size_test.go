package apistatus

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func tooLongAt(path *field.Path, most int) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "c", field.ErrorList{field.TooLong(path, "", most)})
}

func TestSizeLimit(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		limit int
		field string
	}{
		"data":            {tooLongAt(field.NewPath(""), 1<<20), 1 << 20, ""},
		"annotations":     {tooLongAt(field.NewPath("metadata", "annotations"), 256<<10), 256 << 10, "metadata.annotations"},
		"etcd":            {apierrors.NewInternalError(errors.New("etcdserver: request is too large")), 1572864, ""},
		"a message":       {apierrors.NewInternalError(errors.New("trying to send message larger than max (2560842 vs. 2097152)")), 2097152, ""},
		"a request":       {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), 3145728, ""},
		"a long name":     {tooLongAt(field.NewPath("metadata", "name"), 253), 0, ""},
		"another Invalid": {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil), 0, ""},
		"another error":   {errors.New("etcdserver: request is too large"), 0, ""},
		"none":            {nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			limit, at := sizeLimit(c.err)
			assert.Equal(t, c.limit, limit)
			assert.Equal(t, c.field, at)
			assert.Equal(t, c.limit > 0, IsTooLarge(c.err))
		})
	}
	unnumbered := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonRequestEntityTooLarge, Message: "too much"}}
	assert.True(t, IsTooLarge(unnumbered))
	at, explained := ExplainSize(unnumbered, "ConfigMap", nil)
	assert.Same(t, unnumbered, explained, "what isn't known isn't said")
	assert.Empty(t, at)
}

func TestLargestField(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		object any
		secret bool
		field  string
		size   int
		parts  int
	}{
		"a text":              {map[string]any{"spec": map[string]any{"a": text(10), "b": text(500)}}, false, "spec.b", 500, 1},
		"a key with dots":     {map[string]any{"data": map[string]any{"a.b": text(500)}}, false, "data[a.b]", 500, 1},
		"an element by name":  {map[string]any{"list": []any{map[string]any{"name": "n", "v": text(99)}}}, false, "list[name=n].v", 99, 1},
		"an element by place": {map[string]any{"list": []any{"a", text(99)}}, false, "list[1]", 99, 1},
		"many of one size":    {map[string]any{"data": map[string]any{"a": text(50), "b": text(50), "c": text(50)}}, false, "data", 172, 3},
		"a Secret's bytes":    {map[string]any{"data": map[string]any{"a": "aGVsbG8gd29ybGQ="}}, true, "data.a", 11, 1},
		"binary data":         {map[string]any{"binaryData": map[string]any{"a": "aGVsbG8gd29ybGQ="}}, false, "binaryData.a", 11, 1},
		"an empty object":     {map[string]any{}, false, "", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			at, size, parts := largest("", c.object, c.secret)
			assert.Equal(t, c.field, at)
			assert.Equal(t, c.size, size)
			assert.Equal(t, c.parts, parts)
		})
	}
}
