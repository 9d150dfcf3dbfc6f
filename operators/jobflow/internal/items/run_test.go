package items

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// What a status records of a run is read again, but for items that run and, in a retry, for those that failed. Its size is bounded.
func TestARunIsRecorded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRun(ListOf(make([]string, rapid.IntRange(1, 60).Draw(t, "items"))))
		for item := range r.States {
			r.States[item] = rapid.SampledFrom([]record.State{record.Pending, record.Running, record.Succeeded, record.Failed}).Draw(t, "state")
		}
		s := r.Status("node")
		text, err := json.Marshal(s)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(text), Size(s)+len("node"))
		assert.LessOrEqual(t, Size(s), r.MaxSize())
		assert.LessOrEqual(t, r.MaxSize(), NewRun(ListOf(make([]string, len(r.States)))).MaxSize())
		for _, isRetry := range []bool{false, true} {
			read := Read(&s, isRetry)
			assert.Equal(t, r.Digest, read.Digest)
			assert.Equal(t, !isRetry && r.Count(record.Failed) > 0, read.Started)
			for item, state := range r.States {
				if state == record.Running || isRetry && state == record.Failed {
					state = record.Pending
				}
				assert.Equal(t, state, read.States[item], item)
			}
		}
	})
}

func TestARunIsBounded(t *testing.T) {
	assert.Len(t, Read(&v1alpha1.ItemsStatus{Total: 1 << 30, Succeeded: "0-99999999"}, false).States, graph.MaxItems)
	assert.Empty(t, Read(&v1alpha1.ItemsStatus{Total: -1}, false).States)
}
