package status

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestStatusOfUnstructured(t *testing.T) {
	before := &unstructured.Unstructured{Object: map[string]any{}}
	status, err := Of(before)
	require.NoError(t, err)
	assert.Nil(t, status)
	after := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"a": "b"}}}
	patch, err := Patch("7", before, after)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"7"},"status":{"a":"b"}}`, string(patch))
}
