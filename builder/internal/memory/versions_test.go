package memory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

func TestVersions(t *testing.T) {
	m := &Versions{newRecent[types.UID, Version](4)}
	a1, a2 := Version{"1", 7}, Version{"2", 7}
	assert.False(t, m.Has("a", Version{}))
	m.Add("a", a1)
	assert.True(t, m.Has("a", a1))
	assert.False(t, m.Has("a", a2), "another version")
	assert.False(t, m.Has("a", Version{"1", 8}), "something else is wanted")
	m.Add("a", a2)
	assert.True(t, m.Has("a", a2))
	assert.False(t, m.Has("a", a1))
}

func TestVersionsAreBoundedAndKeepWhatIsUsed(t *testing.T) {
	m := &Versions{newRecent[types.UID, Version](10)}
	used := Version{"1", 1}
	m.Add("used", used)
	for i := range 1000 {
		assert.True(t, m.Has("used", used))
		m.Add(types.UID(fmt.Sprint(i)), Version{"1", 1})
		assert.LessOrEqual(t, m.of.Len(), 10)
	}
	assert.False(t, m.Has("0", used))
}
