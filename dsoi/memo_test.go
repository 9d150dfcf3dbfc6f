package dsoi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

// The memory of many large clusters is bounded: those that were planned last are remembered.
func TestTheMemoIsBoundedByItsSize(t *testing.T) {
	var m memo
	large := &rendered{size: maxRememberedSize / 2}
	m.put("a", 1, large)
	m.put("b", 1, large)
	assert.Same(t, large, m.get("a", 1))
	m.put("c", 1, &rendered{size: 1})
	assert.Nil(t, m.get("b", 1), "the least recently used")
	assert.NotNil(t, m.get("a", 1))
	assert.Nil(t, m.get("a", 2), "another generation")
	m.put("a", 2, &rendered{size: 1})
	assert.Equal(t, 2, m.size, "one generation of a cluster counts")
	m.put("d", 1, &rendered{size: maxRememberedSize + 1})
	assert.Zero(t, m.size, "one cluster may be too large")

	for i := range maxRemembered + 1 {
		m.put(types.UID(rune(i+1000)), 1, &rendered{size: 1})
	}
	assert.Equal(t, maxRemembered, m.size)
}

// What is remembered of a cluster counts with its nodes and their groups.
func TestARenderedClusterHasASize(t *testing.T) {
	small, large := theApp().render(nodesWith(t, 1)).size, theApp().render(nodesWith(t, 100)).size
	assert.Greater(t, small, perNode)
	assert.Greater(t, large, 100*perNode)
}
