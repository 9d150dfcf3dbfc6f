package crd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/buildertest/internal/crd"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3}
              mode: {type: object, default: {name: x}, properties: {name: {type: string}, active: {type: boolean, default: true}}}
              port: {x-kubernetes-int-or-string: true}
              level: {type: string, enum: [a, b]}
              note: {type: string, nullable: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              sizes: {type: object, additionalProperties: {type: object, properties: {count: {type: integer, default: 1}}}}
              items:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer, default: 80}}}
`

func read(t *testing.T) *crd.Kind {
	t.Helper()
	path := filepath.Join(t.TempDir(), "things.yaml")
	require.NoError(t, os.WriteFile(path, []byte(definition), 0o600))
	kinds, err := crd.Read(path)
	require.NoError(t, err)
	require.Len(t, kinds, 1)
	return kinds[0]
}

func TestRead(t *testing.T) {
	k := read(t)
	assert.Equal(t, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, k.GroupVersionKind)
	assert.Equal(t, "things", k.Plural)
	assert.True(t, k.Status)
	assert.False(t, k.Namespaced)
	_, err := crd.Read(t.TempDir())
	require.ErrorContains(t, err, "no CustomResourceDefinition")
}

func TestDefaultAndPrune(t *testing.T) {
	obj := map[string]any{"unknown": "x", "metadata": map[string]any{"any": "thing"}, "spec": map[string]any{
		"nothing": "known", "open": map[string]any{"any": "thing"}, "sizes": map[string]any{"a": map[string]any{"z": "z"}},
		"items": []any{map[string]any{"name": "a", "z": "z"}},
	}}
	k := read(t)
	k.Prune(obj)
	k.Default(obj)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"any": "thing"}, "spec": map[string]any{
		"size": int64(3), "mode": map[string]any{"name": "x", "active": true},
		"open": map[string]any{"any": "thing"}, "sizes": map[string]any{"a": map[string]any{"count": int64(1)}},
		"items": []any{map[string]any{"name": "a", "port": int64(80)}},
	}}, obj)
}

func TestListsAreMergedByTheirKeys(t *testing.T) {
	k := read(t)
	converter := k.TypeConverter()
	thing := func(item string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing",
			"spec": map[string]any{"items": []any{map[string]any{"name": item}}},
		}}
	}
	a, err := converter.ObjectToTyped(thing("a"))
	require.NoError(t, err)
	b, err := converter.ObjectToTyped(thing("b"))
	require.NoError(t, err)
	both, err := a.Merge(b)
	require.NoError(t, err)
	merged, err := converter.TypedToObject(both)
	require.NoError(t, err)
	items, _, err := unstructured.NestedSlice(merged.(*unstructured.Unstructured).Object, "spec", "items")
	require.NoError(t, err)
	assert.Len(t, items, 2)
}

func TestValidate(t *testing.T) {
	k := read(t)
	thing := func(spec map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "x"}, "spec": spec}
	}
	valid := thing(map[string]any{"size": int64(1), "port": "http", "mode": map[string]any{}, "note": nil})
	assert.Empty(t, k.Validate(valid, nil))
	invalid := thing(map[string]any{"size": "1", "port": true, "level": "c", "items": []any{map[string]any{"port": int64(1)}}})
	var found []string
	for _, err := range k.Validate(invalid, valid) {
		found = append(found, err.Error())
	}
	assert.ElementsMatch(t, []string{
		`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
		`spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`,
		`spec.level: Unsupported value: "c": supported values: "a", "b"`,
		`spec.items[0].name: Required value`,
	}, found)
	assert.Empty(t, k.Validate(invalid, invalid), "it had these values before")
}
