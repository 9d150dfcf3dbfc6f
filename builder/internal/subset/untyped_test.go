package subset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

type obj = map[string]any

func TestUntyped(t *testing.T) {
	cases := map[string]struct {
		wanted, found any
		contained     bool
	}{
		"field added by others":        {obj{"a": "b"}, obj{"a": "b", "c": int64(1)}, true},
		"field changed":                {obj{"a": "b"}, obj{"a": "c"}, false},
		"field removed":                {obj{"a": "b"}, obj{}, false},
		"false counts as set":          {obj{"a": false}, obj{"a": true}, false},
		"null counts for nothing":      {obj{"a": nil}, obj{"a": true}, true},
		"numbers of different types":   {obj{"a": int64(3)}, obj{"a": 3.0}, true},
		"different numbers":            {obj{"a": int64(3)}, obj{"a": int64(4)}, false},
		"large numbers":                {obj{"a": int64(1) << 53}, obj{"a": int64(1)<<53 + 1}, false}, // one float64
		"large numbers of two types":   {obj{"a": int64(1) << 53}, obj{"a": float64(1 << 53)}, true},
		"empty map and nothing":        {obj{"emptyDir": obj{}}, obj{}, true},
		"empty list and nothing":       {obj{"a": []any{}}, obj{}, true},
		"empty map and more":           {obj{"emptyDir": obj{}}, obj{"emptyDir": obj{"medium": "Memory"}}, true},
		"list in another order":        {obj{"a": []any{"x", "y"}}, obj{"a": []any{"y", "x"}}, false},
		"list with more":               {obj{"a": []any{"x"}}, obj{"a": []any{"x", "y"}}, false},
		"defaults in a list's element": {obj{"a": []any{obj{"name": "x"}}}, obj{"a": []any{obj{"name": "x", "d": "e"}}}, true},
		"empty selector, narrowed":     {obj{"podSelector": obj{}}, obj{"podSelector": obj{"matchLabels": obj{"a": "b"}}}, false},
		"selector narrowed":            {obj{"selector": obj{"a": "b"}}, obj{"selector": obj{"a": "b", "c": "d"}}, false},
		"match labels narrowed":        {obj{"selector": obj{"matchLabels": obj{"a": "b"}}}, obj{"selector": obj{"matchLabels": obj{"a": "b", "c": "d"}}}, false},
		"map wanted, scalar found":     {obj{"a": obj{}}, obj{"a": "b"}, false},
		"list wanted, scalar found":    {obj{"a": []any{}}, obj{"a": "b"}, false},
		"scalar wanted, map found":     {obj{"a": "b"}, obj{"a": obj{}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.contained, Untyped(c.wanted, c.found))
		})
	}
}

// An empty struct of a custom resource may be a member of a union.
func TestCustom(t *testing.T) {
	cases := map[string]struct {
		wanted, found any
		contained     bool
	}{
		"empty map and nothing":        {obj{"exec": obj{}}, obj{}, false},
		"empty map and more":           {obj{"exec": obj{}}, obj{"exec": obj{"x": "y"}}, true},
		"empty list and nothing":       {obj{"a": []any{}}, obj{}, false},
		"empty list and more":          {obj{"a": []any{}}, obj{"a": []any{"x"}}, true},
		"empty map within an element":  {obj{"a": []any{obj{"m": obj{}}}}, obj{"a": []any{obj{}}}, false},
		"null counts for nothing":      {obj{"a": nil}, obj{}, true},
		"field added by others":        {obj{"a": "b"}, obj{"a": "b", "c": int64(1)}, true},
		"empty map in a map and equal": {obj{"a": obj{"m": obj{}}}, obj{"a": obj{"m": obj{}}}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.contained, Custom(c.wanted, c.found))
		})
	}
}

// The API server writes a quantity in its own way.
func TestUntypedQuantities(t *testing.T) {
	limits := func(v any) map[string]any {
		return map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": v}}}
	}
	assert.True(t, Untyped(limits("1000m"), limits("1")))
	assert.True(t, Untyped(limits(int64(1)), limits("1")))
	assert.True(t, Untyped(limits(0.5), limits("500m")))
	assert.True(t, Untyped(map[string]any{"emptyDir": map[string]any{"sizeLimit": "1024Mi"}}, map[string]any{"emptyDir": map[string]any{"sizeLimit": "1Gi"}}))
	assert.False(t, Untyped(limits("1000m"), limits("2")))
	assert.False(t, Untyped(limits("many"), limits("1")))
	assert.False(t, Untyped(limits("1"), limits(nil)))
	assert.False(t, Untyped(map[string]any{"data": map[string]any{"cpu": "1000m"}}, map[string]any{"data": map[string]any{"cpu": "1"}}), "of a ConfigMap")
}
