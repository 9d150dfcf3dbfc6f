package crdskew

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/config/crd"
)

const widget = `
spec:
  versions:
  - name: v1
    served: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              mode: {enum: [A, B]}
              parts: {items: {properties: {name: {type: string}}}}
              labels: {additionalProperties: {properties: {value: {type: string}}}}
              free: {x-kubernetes-preserve-unknown-fields: true}
  - name: v0
    served: false
`

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	return u
}

func TestMissing(t *testing.T) {
	schema := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties"}
	in := func(path ...string) []string { return append(append([]string{}, schema...), path...) }
	for name, c := range map[string]struct {
		drop []string
		lost []string
	}{
		"nothing":          {nil, nil},
		"a version":        {[]string{"served"}, []string{"version v1"}},
		"a subresource":    {[]string{"subresources", "status"}, []string{"v1 subresource status"}},
		"a field":          {in("parts"), []string{"v1 spec.parts"}},
		"in a list":        {in("parts", "items", "properties", "name"), []string{"v1 spec.parts[].name"}},
		"in a map":         {in("labels", "additionalProperties", "properties", "value"), []string{"v1 spec.labels[*].value"}},
		"that it is a map": {in("labels", "additionalProperties"), []string{"v1 spec.labels[*]"}},
		"that all is kept": {in("free", "x-kubernetes-preserve-unknown-fields"), []string{"v1 spec.free.*"}},
		"a limit is none":  {in("mode", "enum"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			older, want := parse(t, widget), parse(t, widget)
			if c.drop != nil {
				versions, _, _ := unstructured.NestedSlice(older.Object, "spec", "versions")
				unstructured.RemoveNestedField(versions[0].(map[string]any), c.drop...)
				require.NoError(t, unstructured.SetNestedSlice(older.Object, versions, "spec", "versions"))
			}
			assert.Equal(t, c.lost, Missing(older, want))
			assert.Empty(t, Missing(want, older), "a newer one will do")
		})
	}
}

func TestMissingValueOfAnEnumeration(t *testing.T) {
	older, want := parse(t, widget), parse(t, widget)
	versions, _, _ := unstructured.NestedSlice(older.Object, "spec", "versions")
	require.NoError(t, unstructured.SetNestedSlice(versions[0].(map[string]any), []any{"A"}, "schema", "openAPIV3Schema", "properties", "spec", "properties", "mode", "enum"))
	require.NoError(t, unstructured.SetNestedSlice(older.Object, versions, "spec", "versions"))
	assert.Equal(t, []string{"v1 spec.mode=B"}, Missing(older, want))
}

func TestOwnCRDsLackNothing(t *testing.T) {
	all, err := crd.All()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, c := range all {
		assert.Empty(t, Missing(c, c), c.GetName())
		assert.NotEmpty(t, Missing(&unstructured.Unstructured{Object: map[string]any{}}, c), c.GetName())
	}
}

func TestSummary(t *testing.T) {
	assert.Equal(t, "a, b, c", Summary([]string{"a", "b", "c"}))
	assert.Equal(t, "a, b, c and 2 more", Summary([]string{"a", "b", "c", "d", "e"}))
}
