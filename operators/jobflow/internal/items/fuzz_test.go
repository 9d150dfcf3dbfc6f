package items

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// What a container writes is taken for what it is, whatever that is: its size in the status is known, and a list has as many items as it has.
func FuzzOutput(f *testing.F) {
	for _, text := range []string{`["a", 1, null, {"b": [2]}, "\u0000"]`, `[]`, `null`, `{"a": 1}`, "[1,", "\xff<&\u2028\ufffd", `["\ud800"]`, `[1e999, -0]`, "[[[["} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Name: "main"}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: text}}}}
		output := outcome.TerminationMessage(pod)
		assert.Equal(t, text, output)
		encoded, err := json.Marshal(output)
		require.NoError(t, err)
		assert.Equal(t, len(encoded)-2, message.JSONSize(output), "%q", output)

		list, err := Parse("list", output)
		if err != nil {
			assert.Less(t, len(err.Error()), 1000, "it is in a condition")
			return
		}
		assert.LessOrEqual(t, len(list.Values), graph.MaxItems)
		var values []any
		if json.Unmarshal([]byte(text), &values) == nil { // numbers may be too large for a float64
			assert.Len(t, list.Values, len(values))
		}
		for i, value := range values {
			if of, ok := value.(string); ok {
				assert.Equal(t, of, list.Values[i])
			}
		}
		assert.NotEmpty(t, list.Digest)
	})
}
