package builder

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

func TestMemo(t *testing.T) {
	m := newMemo(4)
	a1, a2 := memoEntry{"1", 7}, memoEntry{"2", 7}
	assert.False(t, m.has("a", memoEntry{}))
	m.add("a", a1)
	assert.True(t, m.has("a", a1))
	assert.False(t, m.has("a", a2), "another version")
	assert.False(t, m.has("a", memoEntry{"1", 8}), "something else is wanted")
	m.add("a", a2)
	assert.True(t, m.has("a", a2))
	assert.False(t, m.has("a", a1))
}

func TestMemoIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := newMemo(10)
	used := memoEntry{"1", 1}
	m.add("used", used)
	for i := range 1000 {
		assert.True(t, m.has("used", used))
		m.add(types.UID(fmt.Sprint(i)), memoEntry{"1", 1})
		assert.LessOrEqual(t, len(m.young)+len(m.old), 10)
	}
	assert.False(t, m.has("0", used))
}

func TestMemoIsSafe(t *testing.T) {
	m := newMemo(16)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				m.add(types.UID(fmt.Sprint(i*g)), memoEntry{"1", 1})
				m.has(types.UID(fmt.Sprint(i)), memoEntry{"1", 1})
			}
		})
	}
	wg.Wait()
}
