package lab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	samples := []Sample{
		{Writes: 3, Time: 9 * time.Second, Allocs: 1, Reached: true},
		{Writes: 1, Time: 1 * time.Second, Allocs: 2, Reached: true},
		{Writes: 2, Time: 2 * time.Second, Allocs: 3},
	}
	assert.Equal(t, Sample{Writes: 2, Time: 2 * time.Second, Allocs: 2}, Median(samples))
	assert.True(t, Median(samples[:2]).Reached)
	assert.Equal(t, Sample{Reached: true}, Median(nil))
}

func TestMeasure(t *testing.T) {
	c := &Counter{}
	var prepared, done int
	s, err := c.Measure(3, func(int) { prepared++; c.reads.Add(5) }, func(i int) error {
		assert.Equal(t, i+1, prepared)
		done++
		if i == 0 {
			c.writes.Add(1)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 3, done)
	assert.Zero(t, s.Reads, "what preparing takes doesn't count")
	assert.EqualValues(t, 1, s.Writes, "one request in three times isn't none")
}

func TestPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	page := "# Title\n" + Begin("a") + "\nold\n" + End("a") + "\n" + Begin("b") + "\nother\n" + End("b") + "\n"
	require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	require.NoError(t, WritePage(file, "a", "new\n"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "# Title\n"+Begin("a")+"\nnew\n"+End("a")+"\n"+Begin("b")+"\nother\n"+End("b")+"\n", string(text))
}

func TestPageWithoutMarkersIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("# Title\n"), 0o600))
	assert.ErrorContains(t, WritePage(file, "a", ""), "markers are missing")
}
