package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestIndexOfReadsWhatPodNameMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, 1<<31-1).Draw(t, "index")
		prefix, index, ok := indexOf(PodName("job-1", "My-Type", i))
		assert.Equal(t, []any{"job-1-my-type-", i, true}, []any{prefix, index, ok})
	})
	for _, name := range []string{"", "-", "a", "a-", "a--", "a-x", "a-00", "a-01", "a-+1", "a-1x", "a-99999999999999999999", "a- 1"} {
		_, _, ok := indexOf(name)
		assert.False(t, ok, name)
	}
	prefix, index, ok := indexOf("a--1")
	assert.Equal(t, []any{"a--", 1, true}, []any{prefix, index, ok}, "of no type")
}
