package payload

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFieldDigests(t *testing.T) {
	object := map[string]any{
		"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"text": "x", "number": int64(1), "empty": map[string]any{}, "list": []any{"a", "b"},
			"map": map[string]any{"a": "1", "b": "2"},
		},
	}
	digests, err := FieldDigests(object)
	require.NoError(t, err)
	assert.Len(t, digests, 6*fieldDigestSize)
	again, err := FieldDigests(object)
	require.NoError(t, err)
	assert.Equal(t, digests, again)

	for _, c := range []struct {
		path  []string
		value any
		has   bool
	}{
		{[]string{"spec", "text"}, "x", true},
		{[]string{"spec", "text"}, "y", false},
		{[]string{"spec", "other"}, "x", false},
		{[]string{"text"}, "x", false},
		{[]string{"spectext"}, "x", false},
		{[]string{"spec", "number"}, int64(1), true},
		{[]string{"spec", "number"}, float64(1), true},
		{[]string{"spec", "number"}, "1", false},
		{[]string{"spec", "empty"}, map[string]any{}, true},
		{[]string{"spec", "list"}, []any{"a", "b"}, true},
		{[]string{"spec", "list"}, []any{"b", "a"}, false},
		{[]string{"spec", "map"}, map[string]any{"a": "1", "c": "3"}, true},
		{[]string{"spec", "map"}, map[string]any{"a": "2", "c": "3"}, false},
		{[]string{"spec", "map"}, nil, false},
		{[]string{"metadata", "name"}, "a", false},
	} {
		assert.Equal(t, c.has, HasFieldDigest(digests, c.path, c.value), "%v %v", c.path, c.value)
		assert.False(t, HasFieldDigest("", c.path, c.value))
	}
}

func TestFieldDigestsAreBounded(t *testing.T) {
	spec := map[string]any{}
	for i := range maxFieldDigests {
		spec[strconv.Itoa(i)] = int64(i)
	}
	digests, err := FieldDigests(map[string]any{"spec": spec})
	require.NoError(t, err)
	assert.Len(t, digests, maxFieldDigests*fieldDigestSize)
	spec["more"] = true
	digests, err = FieldDigests(map[string]any{"spec": spec})
	require.NoError(t, err)
	assert.Empty(t, digests)
}
