package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSetWhole(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	desired := map[string]any{"spec": map[string]any{"one": map[string]any{"a": "1"}, "many": map[string]any{"a": "1"}, "text": "x", "none": map[string]any{}}}
	m := Manager{Name: "us", Former: []string{"before"}}
	const one = `{"f:spec":{"f:one":{}}}`
	for name, c := range map[string]struct {
		entry metav1.ManagedFieldsEntry
		want  []string
	}{
		"set by another":          {entry("other", "", one), []string{".spec.one"}},
		"set by us":               {entry("us", "", one), nil},
		"set by a former manager": {entry("before", "", one), nil},
		"by a subresource":        {entry("other", "status", one), nil},
		"a key of a map":          {entry("other", "", `{"f:spec":{"f:many":{".":{},"f:b":{}}}}`), nil},
		"what isn't desired":      {entry("other", "", `{"f:spec":{"f:two":{},"f:none":{}}}`), nil},
		"a text":                  {entry("other", "", `{"f:spec":{"f:text":{}}}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, path := range m.SetWhole([]metav1.ManagedFieldsEntry{c.entry}, desired) {
				got = append(got, path.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}
