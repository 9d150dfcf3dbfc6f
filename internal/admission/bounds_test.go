package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
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

func TestObjectsInJSON(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `[null,{"a":"{n"},true,false]`: 2, `{"n\"{":{"b\\":null}}`: 3, `"`: 0, `"\`: 0,
	} {
		assert.Equal(t, want, objectsIn([]byte(text)), text)
	}
}
